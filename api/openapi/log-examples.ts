// The example log of the OpenAPI document. Its proofs hold for the example payloads under the example key.
import { signedCheckpoint } from '../../pipeline/proof/checkpoint.ts'
import { canonical } from '../../pipeline/proof/canonical.ts'
import { base64Of } from '../../pipeline/proof/base64.ts'
import { MerkleTree, leafHash } from '../../pipeline/proof/merkle.ts'
import { signingKeyOf, verifierKeyText } from '../../pipeline/proof/note-keys.ts'
import { receiptHeader, receiptsOf } from '../../pipeline/proof/receipts.ts'
import { innerProofBytes, tlogProofText } from '../../pipeline/proof/tlog-proof.ts'
import { PUBLICATIONS as KINDS, type PublicationKind } from '../../schemas/metric.ts'
import type { Statement } from '../../schemas/statement.ts'
import type { EntityType } from '../../schemas/tables.ts'
import { PUBLICATIONS, acknowledgedForecast, refusedForecast } from './examples.ts'

const ORIGIN = 'fvs.example/forecasts'
const BATCH = '019ca92e-1a16-7c01-9d5e-1f2a3b4c5d6e'
const LEAVES = KINDS.toSorted()
const { release, as_of, environment, methodology_version } = PUBLICATIONS.agent.verification

interface Trees {
  agent: MerkleTree
  forecaster: MerkleTree
  forecasts: MerkleTree
}

let made: ReturnType<typeof makeExamples> | undefined

/**
 * Makes the examples on first use, because their signatures and trees would take a tenth of the start of a
 * service.
 */
export function logExamples(): ReturnType<typeof makeExamples> {
  return (made ??= makeExamples())
}

function makeExamples() {
  /** Anyone can sign with this key, which does no harm in an example. */
  const key = signingKeyOf(ORIGIN, 'log', new Uint8Array(32))
  const acknowledgement = canonical(acknowledgedForecast)
  const trees = {
    agent: treeOf('agent'),
    forecaster: treeOf('forecaster'),
    forecasts: new MerkleTree([leafHash(acknowledgement)]),
  }
  const log = new MerkleTree(
    Array.from({ length: release }, (_, index) => leafHash(statementOf(trees, index + 1))),
  )
  const checkpoint = signedCheckpoint({ origin: ORIGIN, size: log.size, root: log.root }, [key])
  const receipt = receiptHeader(receiptsOf([acknowledgement], { origin: ORIGIN, uuid: BATCH }, [key])[0]!)
  const proofAt = (tree: MerkleTree, index: number) =>
    tlogProofText({
      extra: innerProofBytes({
        index,
        hashes: tree.inclusionPath(index),
        statement: statementOf(trees, release),
      }),
      index: release - 1,
      hashes: log.inclusionPath(release - 1),
      checkpoint,
    })
  return {
    checkpoint,
    vkeys: `${verifierKeyText(key.verifier)}\n`,
    receipt,
    forecastResults: {
      results: [{ status: 'ok', ...acknowledgedForecast, receipt }, refusedForecast],
    },
    forecastProof: proofAt(trees.forecasts, 0),
    proofOf: (entityType: EntityType, kind: PublicationKind) =>
      proofAt(trees[entityType], LEAVES.indexOf(kind)),
  }
}

/** Each entity type has its own tree. */
function treeOf(entityType: EntityType): MerkleTree {
  return new MerkleTree(LEAVES.map((kind) => leafHash(canonical(PUBLICATIONS[entityType][kind]))))
}

function statementOf({ agent, forecaster, forecasts }: Trees, number: number): Uint8Array {
  const statement: Statement = {
    agent: headOf(agent),
    as_of,
    environment: environment as Statement['environment'],
    forecaster: headOf(forecaster),
    forecasts: headOf(forecasts),
    manifest_sha256: '5d41402abc4b2a76b9719d911017c592'.repeat(2),
    methodology_version,
    release: number,
    snapshot_sha256: null,
  }
  return canonical(statement)
}

function headOf({ root, size }: MerkleTree) {
  return { root: base64Of(root), size }
}
