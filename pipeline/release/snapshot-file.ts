// Cuts the file of a day's snapshot out of the bytes of a shard, without parsing or writing any row again.
import { canonicalText, encoded } from '../proof/canonical.ts'
import { eachMember, endOfValue } from '../proof/json-members.ts'
import { isShardPath } from '../store/paths.ts'
import type { OutputFile } from './output.ts'

/**
 * Copies the file of a day's snapshot from a file of a release: a `SnapshotShard` from a `ReleaseShard`, both
 * in canonical JSON. Returns undefined if the file is no shard, or lacks the row of an entity.
 *
 * @throws ServiceError `corrupt` for a shard that is cut off.
 */
export function snapshotFile(
  { path, bytes: released }: Pick<OutputFile, 'path' | 'bytes'>,
  date: string,
): OutputFile | undefined {
  if (!isShardPath(path)) return undefined
  const bytes = Buffer.from(released.buffer, released.byteOffset, released.byteLength)
  const valueAt = (from: number) => bytes.subarray(from, endOfValue(bytes, from))
  const parts = [encoded(`{"date":${canonicalText(date)},"entities":{`)]
  let [entities, rows] = [0, 0]
  const takeRow = (entityId: string, entity: number): number => {
    entities += 1
    return eachMember(bytes, entity, (kind, at) => {
      const publication = valueAt(at)
      if (kind === 'snapshot') {
        parts.push(encoded(`${rows === 0 ? '' : ','}${canonicalText(entityId)}:`), publication)
        rows += 1
      }
      return at + publication.length
    })
  }
  eachMember(bytes, 0, (name, at) => {
    if (name === 'entities') return eachMember(bytes, at, takeRow)
    const value = valueAt(at)
    if (name === 'entity_type') parts.push(encoded('},"entity_type":'), value, encoded('}'))
    return at + value.length
  })
  return rows === entities ? { path, rows, bytes: Buffer.concat(parts) } : undefined
}
