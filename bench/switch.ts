// Measures what callers of one process notice when it goes over to a new release: how many answers took over
// 50 ms, and how many were wrong, while releases appear in its store under a steady load of reads of all
// kinds.
import { randomBytes } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { Registry } from '../pipeline/access/registry.ts'
import { readReleaseShard } from '../pipeline/release/read.ts'
import { FileStore } from '../pipeline/store/file.ts'
import { isShardPath, shardStart } from '../pipeline/store/paths.ts'
import { PUBLICATIONS } from '../schemas/metric.ts'
import type { ReleaseManifest } from '../schemas/manifests.ts'
import type { EntityType } from '../schemas/tables.ts'
import { Expected } from '../test/support/http/expected-answers.ts'
import { statusOf } from '../test/support/http/keep-alive.ts'
import {
  type Answered,
  type AskedPath,
  type Asking,
  judged,
  startAsking,
  wrongIn,
} from '../test/support/http/steady-asking.ts'
import { watchHost } from './host-share.ts'
import { heldReleases } from './switch/releases.ts'
import { answersOf, startReplay } from './switch/replay.ts'
import type { Replayed } from './switch/replay-server.ts'
import { turnsOf } from './switch/turns-of.ts'

export interface SwitchVolume {
  connections: number
  perSecond: number
  switches: number
}

export interface SwitchFigures {
  entities: number
  /** Sent in the three seconds after a release was there, and all others. */
  atSwitch: Timed[]
  between: Timed[]
  /** By a server that answers the same from memory, asked in the same way for as long. */
  replayed: Timed[]
  wrong: string[]
  /** From the publication of each release to the first answer of it. */
  knownAfterMs: number[]
  /** Of the service's event loop, in processor time: no call is answered in one. */
  longestTurnsMs: { atSwitch: number[]; between: number[] }
  /**
   * Of the machine, 0 to 1, taken by its host while the service was asked, and while the server from memory
   * was.
   */
  hostShare: { served: number; replayed: number }
}

/** An answer, and how late the request for it was sent. */
export type Timed = Pick<Answered, 'sentMs' | 'lateMs' | 'tookMs'> & { path: string }

/** No answer may take longer. */
export const SLOW_MS = 50
const SECRET = 'a secret for measurements, of no other use'
/**
 * Which answers count as those at a switch: until a node looks at the store, goes over, which takes two
 * seconds at most, and what happens then.
 */
const AROUND_MS = 3_000
const BETWEEN_MS = 3_000
/** Turns that are shown. */
const LONGEST = 5
/** Ids in one call, the most with a key of the free tier. */
const IN_BULK = 10
/** A page of scores takes as long as a hundred verifications, release or not. */
const SCORES_EVERY = 50
/** Pages that people look at. */
const POPULAR = 20

/** On a store with the tables of a world. */
export async function measureSwitch(root: string, volume: SwitchVolume): Promise<SwitchFigures> {
  await using releases = await heldReleases(root, 1 + volume.switches)
  const store = await FileStore.open(root)
  const entities = await entitiesOf(store, releases.first)
  const registry = new Registry({ store, environment: 'production', randomBytes })
  const quota = { tier: 'enterprise', monthly_calls: 1_000_000_000 } as const
  const key = await registry.createClientKey('bench', new Date(), quota)
  const published: number[] = []
  const paths = pathsOf(entities, key)
  let asking: Asking
  let asServed: Replayed
  let startMs = 0
  let servedShare = 0
  const settings = { VERIFICATION_SIGNING_SECRET: SECRET, REFRESH_MS: '250' }
  const turns = await turnsOf(root, settings, async (url) => {
    asServed = await answersOf(url, paths)
    asking = startAsking(url, paths, volume)
    // The first turn warms up.
    await pause(2 * BETWEEN_MS)
    startMs = performance.now()
    const hostShare = await watchHost()
    for (const { publish } of releases.later) {
      published.push(performance.now())
      await publish()
      await pause(AROUND_MS + BETWEEN_MS)
    }
    servedShare = await hostShare()
    await asking.stop()
  })
  const { replayed, share: replayedShare } = await askReplay(asServed!, paths, volume)
  const answers = asking!.answers()
  const expected = await expectedOf(store, [
    releases.first,
    ...releases.later.map(({ manifest }) => manifest),
  ])
  const all = judged(answers, expected)
  const isAtSwitch = (ms: number) => published.some((atMs) => ms > atMs && ms < atMs + AROUND_MS)
  const measured = timesOf(answers, startMs)
  const turnsWhere = (isThen: (ms: number) => boolean) =>
    turns
      .map(({ atMs, cpuMs }) => ({ atMs: atMs - performance.timeOrigin, cpuMs }))
      .filter(({ atMs }) => atMs >= startMs && isThen(atMs))
      .map(({ cpuMs }) => cpuMs)
      .toSorted((a, b) => b - a)
      .slice(0, LONGEST)
  return {
    entities: entities.length,
    atSwitch: measured.filter(({ sentMs }) => isAtSwitch(sentMs)),
    between: measured.filter(({ sentMs }) => !isAtSwitch(sentMs)),
    replayed,
    wrong: wrongIn(all),
    knownAfterMs: releases.later.map(({ manifest: { release } }, nth) => {
      const known = all.filter((one) => one.release === release).map(({ answer }) => answer)
      return Math.min(...known.map(({ sentMs, tookMs }) => sentMs + tookMs)) - published[nth]!
    }),
    longestTurnsMs: { atSwitch: turnsWhere(isAtSwitch), between: turnsWhere((ms) => !isAtSwitch(ms)) },
    hostShare: { served: servedShare, replayed: replayedShare },
  }
}

async function askReplay(
  asServed: Replayed,
  paths: readonly AskedPath[],
  volume: SwitchVolume,
): Promise<{ replayed: Timed[]; share: number }> {
  await using server = await startReplay(asServed)
  const asking = startAsking(server.url, paths, volume)
  await pause(2 * BETWEEN_MS)
  const startMs = performance.now()
  const hostShare = await watchHost()
  await pause(volume.switches * (AROUND_MS + BETWEEN_MS))
  const share = await hostShare()
  await asking.stop()
  const answers = asking.answers()
  const failed = answers.find(({ bytes }) => statusOf(bytes) !== 200)
  if (failed) throw new Error(`the server from memory answered ${failed.bytes.toString()}`)
  return { replayed: timesOf(answers, startMs), share }
}

/** Without the answers themselves, of those that were sent since then. */
function timesOf(answers: readonly Answered[], startMs: number): Timed[] {
  return answers
    .filter(({ sentMs }) => sentMs >= startMs)
    .map(({ asked: { path }, sentMs, lateMs, tookMs }) => ({ path, sentMs, lateMs, tookMs }))
}

async function expectedOf(store: FileStore, manifests: readonly ReleaseManifest[]): Promise<Expected> {
  const expected = new Expected({ served: SECRET, published: 'bench' })
  for (const manifest of manifests) await expected.add(store, manifest)
  return expected
}

interface Entity {
  type: EntityType
  id: string
}

async function entitiesOf(store: FileStore, { release, files }: ReleaseManifest): Promise<Entity[]> {
  const shards = files.filter(({ path }) => isShardPath(path))
  const all = await Promise.all(
    shards.map(async (file) => {
      const type = shardStart(file.path, 'agent') === undefined ? 'forecaster' : 'agent'
      const { entities } = await readReleaseShard(store, release, file)
      return Object.keys(entities).map((id): Entity => ({ type, id }))
    }),
  )
  return all.flat()
}

/** Each entity is asked about in one of the ways, and now and then something else is asked. */
function pathsOf(entities: readonly Entity[], key: string): AskedPath[] {
  return entities.flatMap(({ type, id }, nth) => {
    const path = `${type === 'agent' ? '/agents' : '/forecaster'}/${id}`
    const kind = [...PUBLICATIONS, 'profile' as const][nth % (PUBLICATIONS.length + 1)]!
    const own = kind === 'profile' ? path : `${path}/${kind.replaceAll('_', '-')}`
    const asked: AskedPath[] = [
      { kind: 'published', path: `${path}/verification`, published: { id, kind: 'verification' } },
      { kind: 'published', path: own, published: { id, kind } },
    ]
    const popular = entities[nth % POPULAR]!
    const others: AskedPath[] = [
      { kind: 'badge', path: `${path}/badge.svg` },
      { kind: 'leaderboard', path: `/leaderboard/${type}?limit=100` },
      { kind: 'snapshots', path: `/snapshots/${type}/${id}` },
      { kind: 'current release', path: '/releases/current' },
      { kind: 'page', path: `/view/${popular.type}s/${popular.id}` },
      {
        kind: 'bulk',
        path: '/verification/bulk',
        headers: { 'X-API-Key': key, 'Content-Type': 'application/json' },
        body: JSON.stringify({ entity_type: type, ids: bulkOf(entities, nth) }),
      },
    ]
    const scores: AskedPath = { kind: 'scores', path: `${path}/scores?limit=100` }
    return [...asked, nth % SCORES_EVERY === 0 ? scores : others[nth % others.length]!]
  })
}

/** Ids of one kind, that of the nth entity, which stand side by side. */
function bulkOf(entities: readonly Entity[], nth: number): string[] {
  const { type } = entities[nth]!
  const near = entities.slice(Math.max(0, nth - 2 * IN_BULK), nth + 2 * IN_BULK)
  return near
    .filter((one) => one.type === type)
    .slice(0, IN_BULK)
    .map(({ id }) => id)
}
