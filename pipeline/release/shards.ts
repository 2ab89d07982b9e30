// The JSON files of a release and of a snapshot: runs of entities in order of id, each file named by its first.
import type { ManifestFile, ReleaseShard, SnapshotShard, VoiceRule } from '../../schemas/payloads.ts'
import { PUBLICATIONS } from '../../schemas/metric.ts'
import { canonical, canonicalObject, canonicalText, encoded, sha256Hex } from '../proof/canonical.ts'
import { type Hash, MerkleTree, leafHash } from '../proof/merkle.ts'
import type { TreeHead } from '../proof/merkle-proof.ts'
import type { Body, LocalFile } from '../store/body.ts'
import { shardPath } from '../store/paths.ts'
import { type Provenance, type RankedEntity, nameOf, payloadsOf, rankedSkill } from './payloads.ts'
import { snapshotDate } from './read.ts'

/** A shard is read whole, so it holds a few hundred entities, about a megabyte. */
export const ENTITIES_PER_SHARD = 256

/** A file of a release or a snapshot, under its path there. */
export interface OutputFile extends Omit<ManifestFile, 'size_bytes' | 'sha256'> {
  bytes: Uint8Array
  /** Of the Merkle tree that the file is a part of. */
  subtree?: TreeHead
}

/** One that memory may be too small for: on this machine, until it is disposed of. */
export interface LargeFile extends Omit<OutputFile, 'bytes'>, AsyncDisposable {
  file: LocalFile
}

export function bodyOf(output: OutputFile | LargeFile): Body {
  return 'file' in output ? output.file : output.bytes
}

/** What a manifest says of a file. */
export function entryOf({
  subtree: _subtree,
  ...output
}: OutputFile | (Omit<OutputFile, 'bytes'> & { file: Omit<LocalFile, 'location'> })): ManifestFile {
  if ('file' in output) {
    const { file, ...described } = output
    return { ...described, size_bytes: file.sizeBytes, sha256: file.sha256 }
  }
  const { bytes, ...described } = output
  return { ...described, size_bytes: bytes.byteLength, sha256: sha256Hex(bytes) }
}

/** Returns the signature of a payload's bytes, or null where signing is off. */
export type Sign = (bytes: Uint8Array) => string | null

/** A payload with its signature, in canonical JSON, and the payload's own bytes. */
export function published(payload: object, sign: Sign): { text: string; bytes: Uint8Array } {
  const text = canonicalText(payload)
  const bytes = encoded(text)
  return { text: canonicalObject({ payload: text, signature: canonicalText(sign(bytes)) }), bytes }
}

/** The payloads of an entity that are leaves of the tree of its kind, in the order of the tree (VERIFIABILITY §1). */
export const LEAVES = PUBLICATIONS.toSorted()

/** The shards of one kind of entity, given in order of id. */
export function* releaseShards(
  entities: readonly RankedEntity[],
  voiceRule: VoiceRule,
  provenance: Provenance,
  sign: Sign,
  bringsSnapshot: boolean,
): Iterable<OutputFile> {
  for (let from = 0; from < entities.length; from += ENTITIES_PER_SHARD) {
    const members = entities.slice(from, from + ENTITIES_PER_SHARD)
    const { entityType, entityId } = members[0]!
    const leaves: Hash[] = []
    const publications = members.map((entity) => {
      const payloads: Record<string, object> = payloadsOf(entity, voiceRule, provenance)
      if (bringsSnapshot) payloads.snapshot = snapshotRow(entity, provenance)
      const signed = new Map(
        Object.entries(payloads).map(([kind, payload]) => [kind, published(payload, sign)]),
      )
      for (const kind of LEAVES) leaves.push(leafHash(signed.get(kind)!.bytes))
      const texts = Object.fromEntries([...signed].map(([kind, { text }]) => [kind, text]))
      return [entity.entityId, canonicalObject(texts)]
    })
    const shard: Record<keyof ReleaseShard, string> = {
      release: canonicalText(provenance.release),
      entity_type: canonicalText(entityType),
      entities: canonicalObject(Object.fromEntries(publications) as Record<string, string>),
    }
    const bytes = encoded(canonicalObject(shard))
    const { root, size } = new MerkleTree(leaves)
    yield { path: shardPath(entityType, entityId), rows: members.length, bytes, subtree: { root, size } }
  }
}

/** The row names the entity and the environment too, so that its signature holds for nothing else. */
function snapshotRow(
  entity: RankedEntity,
  { release, as_of, environment, methodology_version }: Provenance,
): object {
  const { metrics, award } = entity
  return {
    ...nameOf(entity),
    date: snapshotDate(as_of),
    release,
    environment,
    rank: metrics.rank,
    rank_interval: metrics.rank_interval,
    percentile: metrics.percentile,
    skill: rankedSkill(metrics),
    skill_interval: metrics.skill_interval,
    resolved_questions: metrics.resolved_questions,
    contested_questions: metrics.contested_questions,
    ...award,
    population: metrics.field_size,
    methodology_version,
  }
}

/** The file of a day's snapshot that is copied from a shard; undefined if the shard lacks the row of some entity. */
export function snapshotFile(
  path: string,
  date: string,
  { entity_type, entities }: Pick<ReleaseShard, 'entity_type' | 'entities'>,
): OutputFile | undefined {
  const rows = Object.entries(entities).map(([entityId, { snapshot }]) => [entityId, snapshot] as const)
  if (rows.some(([, snapshot]) => !snapshot)) return undefined
  const shard: Record<keyof SnapshotShard, unknown> = {
    date,
    entity_type,
    entities: Object.fromEntries(rows),
  }
  return { path, rows: rows.length, bytes: canonical(shard) }
}
