// The activity of a profile: on how many open and on how many overdue questions an entity has a forecast.
import { beforeAll, describe, expect, test } from 'vitest'
import type { Components } from '../../jobs/components/components.ts'
import { readManifest } from '../../pipeline/release/read.ts'
import { MemoryStore } from '../../pipeline/store/memory.ts'
import { releasePrefix } from '../../pipeline/store/paths.ts'
import type { ReleaseShard } from '../../schemas/payloads.ts'
import { suiteFolder } from '../support/folder.ts'
import { Clock, importRows, release, testComponents } from '../support/http/service.ts'
import { contentOf, copyOf, recordIn } from '../support/store-content.ts'
import { stagedRelease } from '../support/staged-release.ts'
import { NOW, csvOf, forecasterId, uuidOf } from '../support/worlds/world.ts'

const folder = await suiteFolder()
const OPENED = '2026-01-01T00:00:00.000Z'
const CLOSED = '2026-02-01T00:00:00.000Z'
const OPEN_UNTIL = '2026-03-10T00:00:00.000Z'
const BEFORE = '2026-01-15T00:00:00.000Z'

interface Asked {
  closes: string
  outcomes?: readonly string[]
  forecasts: readonly (readonly [probability: string, at: string])[]
}
const BOTH = [
  ['0.5', BEFORE],
  ['0.6', '2026-01-16T00:00:00.000Z'],
] as const
const WITHDRAWN = [...BOTH, ['', '2026-01-17T00:00:00.000Z']] as const

/**
 * Each question, which another person answers, and whether a forecast on it is one on an open question, on an
 * overdue one, or on neither.
 */
const QUESTIONS: readonly (readonly [string, 'open' | 'overdue' | 'neither', Asked])[] = [
  ['open', 'open', { closes: OPEN_UNTIL, forecasts: BOTH }],
  ['open, and its forecast withdrawn', 'neither', { closes: OPEN_UNTIL, forecasts: WITHDRAWN }],
  ['open, and nobody answers', 'neither', { closes: OPEN_UNTIL, forecasts: [] }],
  ['overdue', 'overdue', { closes: CLOSED, forecasts: BOTH }],
  ['overdue since this instant', 'overdue', { closes: NOW, forecasts: [['0.5', BEFORE]] }],
  ['overdue, and its forecast withdrawn', 'neither', { closes: CLOSED, forecasts: WITHDRAWN }],
  [
    'overdue, and its forecast withdrawn too late',
    'overdue',
    { closes: CLOSED, forecasts: [...BOTH, ['', CLOSED]] },
  ],
  ['overdue, and answered too late', 'neither', { closes: CLOSED, forecasts: [['0.5', CLOSED]] }],
  ['overdue, and nobody answers', 'neither', { closes: CLOSED, forecasts: [] }],
  ['decided', 'neither', { closes: CLOSED, outcomes: ['no,2026-02-02T00:00:00Z'], forecasts: BOTH }],
  ['annulled', 'neither', { closes: CLOSED, outcomes: ['annulled,2026-02-02T00:00:00Z'], forecasts: BOTH }],
  [
    'without the outcome that it had',
    'overdue',
    { closes: CLOSED, outcomes: ['no,2026-02-02T00:00:00Z', 'open,2026-02-03T00:00:00Z'], forecasts: BOTH },
  ],
]

/** Those who answer nothing are in a release because they were named. */
const NAMED = QUESTIONS.flatMap(([, , { forecasts }], index) =>
  forecasts.length === 0 ? [forecasterId(index)] : [],
)

const on = (store: MemoryStore, at: string): Promise<Components> =>
  testComponents({ store, folder, clock: new Clock(at) })

const store = new MemoryStore()
beforeAll(async () => {
  const components = await on(store, NOW)
  const asked = QUESTIONS.map(
    ([title, , { closes }], index) => `${uuidOf(1, index)},"${title}?",${OPENED},${closes}`,
  )
  await importRows(components, 'questions', `question_id,title,opened_at,closes_at\n${asked.join('\n')}\n`)
  for (const time of [0, 1]) {
    const rows = QUESTIONS.flatMap(([, , { outcomes }], index) =>
      outcomes?.[time] === undefined ? [] : [`${uuidOf(1, index)},${outcomes[time]}`],
    )
    await importRows(components, 'resolutions', `question_id,outcome,resolved_at\n${rows.join('\n')}\n`)
  }
  const lines = QUESTIONS.flatMap(([, , { forecasts }], index) =>
    forecasts.map(
      ([probability, at]) => `forecaster,${forecasterId(index)},${uuidOf(1, index)},${probability},${at}`,
    ),
  )
  await importRows(components, 'forecasts', csvOf(lines))
  const idle = NAMED.map((id) => `${id},Idle\n`).join('')
  await importRows(components, 'forecasters', `user_id,display_name\n${idle}`)
  await release(components)
})

async function activityIn(of: MemoryStore, number: number, id: string) {
  const { files } = (await readManifest(of, number))!
  const { path } = files.find((file) => file.path.startsWith('forecaster/'))!
  const { entities } = recordIn(of, releasePrefix(number) + path) as unknown as ReleaseShard
  const { open_forecasts: open, overdue_forecasts: overdue } = entities[id]!.profile.payload
  return { open, overdue }
}

describe('a release says on how many questions an entity has a forecast', () => {
  test.each(QUESTIONS.map(([title, state], index) => [title, state, index] as const))(
    'that are open, and that closed without an outcome: %s counts as %s',
    async (_, state, index) => {
      const expected = { open: Number(state === 'open'), overdue: Number(state === 'overdue') }
      expect(await activityIn(store, 1, forecasterId(index))).toEqual(expected)
    },
  )

  test('as of its time: an open question is overdue from its close on', { tags: ['slow'] }, async () => {
    const later = copyOf(store)
    await release(await on(later, OPEN_UNTIL))
    for (const [index, [, state]] of QUESTIONS.entries()) {
      const expected = { open: 0, overdue: Number(state !== 'neither') }
      expect(await activityIn(later, 2, forecasterId(index))).toEqual(expected)
    }
  })

  test('and so do stages, with the same bytes', { tags: ['slow'] }, async () => {
    const [plain, staged] = [copyOf(store), copyOf(store)]
    await release(await on(plain, OPEN_UNTIL))
    await stagedRelease(await on(staged, OPEN_UNTIL))
    expect(await contentOf(staged, releasePrefix(2))).toEqual(await contentOf(plain, releasePrefix(2)))
  })
})
