// The kinds of objects in a store, and the damages that one may suffer.
import type { MemoryStore } from '../../pipeline/store/memory.ts'
import { claimPath, keyPath } from '../../pipeline/store/paths.ts'
import { idOf } from '../support/http/counted-calls.ts'
import type { DamagedWorld } from '../support/worlds/damaged-world.ts'

/** How an object of a kind is found, and another of its kind to swap it with. */
export interface Kind {
  victim: RegExp | ((world: DamagedWorld) => string)
  other: RegExp
  /** Of those that match: by default the first, or else the last. */
  last?: boolean
  /** The world must have a release that was planned and cut off. */
  planned?: boolean
  /** The release that is audited: by default the current one. */
  audited?: number
}

export const KINDS: Record<string, Kind> = {
  'inbox object': { victim: /^inbox\/forecasts\//, other: /^inbox\/agents\// },
  'intake, not carried out': { victim: /^intake\/questions\//, last: true, other: /^intake\/resolutions\// },
  'intake of the last version': {
    victim: /^intake\/forecasts\//,
    last: true,
    other: /^intake\/resolutions\//,
  },
  'older intake': { victim: /^intake\/forecasts\//, other: /^intake\/resolutions\// },
  commit: {
    victim: /^tables\/forecasts\/_delta_log\/0+1\.json/,
    other: /^tables\/forecasts\/_delta_log\/0+2\.json/,
  },
  'commit before a checkpoint': {
    victim: /^tables\/forecasters\/_delta_log\/0+1\.json/,
    other: /^tables\/agents\/_delta_log\/0+1\.json/,
  },
  checkpoint: {
    victim: /^tables\/forecasters\/_delta_log\/.*checkpoint\.parquet/,
    other: /^tables\/agents\/_delta_log\/.*checkpoint\.parquet/,
  },
  _last_checkpoint: {
    victim: /^tables\/forecasters\/_delta_log\/_last/,
    other: /^tables\/agents\/_delta_log\/_last/,
  },
  'data file': { victim: /^tables\/forecasts\/.*-0\.parquet/, other: /^tables\/questions\/.*-0\.parquet/ },
  'key record': {
    victim: ({ agents: [, { key }] }) => keyPath(idOf(key)),
    other: /^registry\/keys\//,
  },
  'idempotency claim': {
    victim: ({ agents: [, { agentId }] }) => claimPath(`forecast ${agentId}`, 'one'),
    other: /^idempotency\//,
  },
  'plan, not carried out': {
    victim: /^releases\/00000004\/plan/,
    other: /^releases\/00000003\/plan/,
    planned: true,
  },
  'plan of a release': { victim: /^releases\/00000003\/plan/, other: /^releases\/00000002\/plan/ },
  shard: { victim: /^releases\/00000003\/agent\//, other: /^releases\/00000003\/forecaster\// },
  'scores Parquet': { victim: /^releases\/00000003\/scores\/000/, other: /^releases\/00000003\/scores\/001/ },
  'hashes of row groups': {
    victim: /^releases\/00000003\/row-groups\/000/,
    other: /^releases\/00000003\/row-groups\/001/,
  },
  'entities Parquet': {
    victim: /^releases\/00000003\/entities\/000/,
    other: /^releases\/00000003\/entities\/001/,
  },
  manifest: { victim: /^releases\/00000003\/manifest/, other: /^releases\/00000002\/manifest/ },
  'manifest of an earlier release': {
    victim: /^releases\/00000002\/manifest/,
    other: /^releases\/00000001\/manifest/,
    audited: 2,
  },
  'thinning record': {
    victim: /^releases\/00000001\/thinned/,
    other: /^releases\/00000002\/thinned/,
    audited: 1,
  },
  'snapshot shard': {
    victim: /^snapshots\/2026-03-01\/agent\//,
    other: /^snapshots\/2026-03-02\/agent\//,
    audited: 1,
  },
  "manifest of the last day's snapshot": {
    victim: /^snapshots\/2026-03-02\/manifest/,
    other: /^snapshots\/2026-03-01\/manifest/,
    audited: 2,
  },
  'manifest of an earlier snapshot': {
    victim: /^snapshots\/2026-03-01\/manifest/,
    other: /^snapshots\/2026-03-02\/manifest/,
    audited: 1,
  },
}

export const DAMAGES = ['bit flipped', 'truncated', 'gone', 'swapped'] as const
export type Damage = (typeof DAMAGES)[number]

export function pathsOf(world: DamagedWorld, { victim, other, last = false }: Kind): [string, string] {
  const paths = [...world.store.objects.keys()].sort()
  const of = (pattern: RegExp) => paths.filter((path) => pattern.test(path))
  const found = victim instanceof RegExp ? of(victim) : [victim(world)]
  const path = last ? found.at(-1) : found[0]
  const another = of(other).find((candidate) => candidate !== path)
  if (path === undefined || another === undefined) throw new Error(`there is nothing to damage like ${other}`)
  return [path, another]
}

/** Damaged bytes. `share` says where, from 0 to 1. */
export function damaged(bytes: Uint8Array, how: 'bit flipped' | 'truncated', share: number): Uint8Array {
  if (how === 'truncated') return bytes.subarray(0, Math.floor(bytes.length * share))
  const bit = Math.floor(8 * bytes.length * share)
  return Uint8Array.from(bytes).with(bit >> 3, bytes[bit >> 3]! ^ (1 << (bit & 7)))
}

/**
 * Damages a store. `share` says where in the object, from 0 to 1. Returns the paths whose bytes are wrong.
 */
export function damage(
  { objects }: MemoryStore,
  [path, other]: [string, string],
  how: Damage,
  share: number,
): string[] {
  const bytes = objects.get(path)!
  if (how === 'gone') objects.delete(path)
  if (how === 'truncated' || how === 'bit flipped') objects.set(path, damaged(bytes, how, share))
  if (how !== 'swapped') return [path]
  objects.set(path, objects.get(other)!)
  objects.set(other, bytes)
  return [path, other]
}
