// Titles can be decided again by anyone who has a verification, and nothing else (METHODOLOGY §3).
import { expect, test } from 'vitest'
import { z } from 'zod'
import { METHODOLOGY } from '../../pipeline/scoring/methodology.ts'
import { decideTitle } from '../../pipeline/scoring/title.ts'
import { MemoryStore } from '../../pipeline/store/memory.ts'
import { agentVerification, forecasterVerification, type ReleaseShard } from '../../schemas/payloads.ts'
import { profileIn } from '../support/worlds/profile-world.ts'
import { contentOf } from '../support/store-content.ts'
import { copyReleasedWorld } from '../support/worlds/world.ts'

const verification = z.union([agentVerification, forecasterVerification])

/** The title that a verification has, and the one that its other members give. */
function titles(payload: unknown): [has: string, gives: string] {
  const parsed = verification.parse(payload)
  const has = 'badge' in parsed ? parsed.badge : parsed.certification
  return [has, decideTitle(METHODOLOGY, parsed).title]
}

test('of every entity of a release', async () => {
  const store = new MemoryStore()
  await copyReleasedWorld(store)
  const shards = Object.keys(await contentOf(store, 'releases/00000001/')).filter((path) =>
    /^releases\/00000001\/(agent|forecaster)\//.test(path),
  )
  let decided = 0
  for (const path of shards) {
    const shard = JSON.parse(new TextDecoder().decode(await store.get(path))) as ReleaseShard
    for (const { verification: published } of Object.values(shard.entities)) {
      const [has, gives] = titles(published.payload)
      expect(gives).toBe(has)
      decided += 1
    }
  }
  expect(decided).toBe(7)
})

test.for([
  ['none', { questions: 12 }],
  ['measured', { questions: 40, error: 1 }],
  ['certified', { questions: 130, error: 0, peersKnow: 0 }],
  ['measured', { questions: 130, error: 0, peersKnow: 0, hasOwners: false }],
  ['none', { questions: 12, kind: 'forecaster' }],
  ['measured', { questions: 40, error: 2, kind: 'forecaster' }],
  ['certified', { questions: 110, error: 0, peersKnow: 0, kind: 'forecaster' }],
] as const)('%s of %o', ([title, circumstances]) => {
  const { published } = profileIn({ ...circumstances })
  expect(titles(published.verification)).toEqual([title, title])
})
