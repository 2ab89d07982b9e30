// The log of the examples of the OpenAPI document: its proofs hold, of the example payloads and with the example key.
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
/** Anyone can sign with it, as an example may be. */
const KEY = signingKeyOf(ORIGIN, 'log', new Uint8Array(32))
const LEAVES = KINDS.toSorted()
const { release, as_of, environment, methodology_version } = PUBLICATIONS.agent.verification

const ACKNOWLEDGEMENT = canonical(acknowledgedForecast)
const TREES = {
  agent: treeOf('agent'),
  forecaster: treeOf('forecaster'),
  forecasts: new MerkleTree([leafHash(ACKNOWLEDGEMENT)]),
}

/** Each kind of entity has one. */
function treeOf(entityType: EntityType): MerkleTree {
  return new MerkleTree(LEAVES.map((kind) => leafHash(canonical(PUBLICATIONS[entityType][kind]))))
}

const headOf = ({ root, size }: MerkleTree) => ({ root: base64Of(root), size })

function statementOf(number: number): Uint8Array {
  const statement: Statement = {
    agent: headOf(TREES.agent),
    as_of,
    environment: environment as Statement['environment'],
    forecaster: headOf(TREES.forecaster),
    forecasts: headOf(TREES.forecasts),
    manifest_sha256: '5d41402abc4b2a76b9719d911017c592'.repeat(2),
    methodology_version,
    release: number,
    snapshot_sha256: null,
  }
  return canonical(statement)
}

const LOG = new MerkleTree(Array.from({ length: release }, (_, index) => leafHash(statementOf(index + 1))))

export const CHECKPOINT = signedCheckpoint({ origin: ORIGIN, size: LOG.size, root: LOG.root }, [KEY])
export const VKEYS = `${verifierKeyText(KEY.verifier)}\n`

const BATCH = '019ca92e-1a16-7c01-9d5e-1f2a3b4c5d6e'
export const RECEIPT = receiptHeader(
  receiptsOf([ACKNOWLEDGEMENT], { origin: ORIGIN, uuid: BATCH }, [KEY])[0]!,
)
export const FORECAST_RESULTS = {
  results: [{ status: 'ok', ...acknowledgedForecast, receipt: RECEIPT }, refusedForecast],
}

export function proofOf(entityType: EntityType, kind: PublicationKind): string {
  return proofAt(TREES[entityType], LEAVES.indexOf(kind))
}

export const FORECAST_PROOF = proofAt(TREES.forecasts, 0)

function proofAt(tree: MerkleTree, index: number): string {
  return tlogProofText({
    extra: innerProofBytes({ index, hashes: tree.inclusionPath(index), statement: statementOf(release) }),
    index: release - 1,
    hashes: LOG.inclusionPath(release - 1),
    checkpoint: CHECKPOINT,
  })
}
