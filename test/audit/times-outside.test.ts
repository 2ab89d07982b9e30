// An audit over HTTP holds the times of settled forecasts to the log: nobody needs the store to find one that
// was written down later than it says.
import { beforeAll, describe, expect, test } from 'vitest'
import type { OutsideReport } from '../../pipeline/audit/outside.ts'
import { auditedOutside } from '../support/audited-outside.ts'
import { suiteFolder } from '../support/folder.ts'
import { startTestService, testComponents } from '../support/http/service.ts'
import { servedFiles } from '../support/served-data.ts'
import { copyOf } from '../support/store-content.ts'
import { type BegunWorld, SECOND, begunWorld, idAt, settledStore } from '../support/worlds/settled-world.ts'
import { writeLog } from '../support/worlds/written-log.ts'

const folder = await suiteFolder()
let world: BegunWorld
beforeAll(async () => {
  world = await begunWorld(folder)
})

/** Audits the release that settles the question, after more forecasts on it have come. */
async function audited(more: { at: string; id: string }[]): Promise<OutsideReport> {
  const store = await settledStore(world, more)
  await writeLog(store, 3)
  const components = await testComponents({ store, folder, settings: { PUBLIC_DATA: 'tables' } })
  const service = await startTestService(components)
  try {
    return await auditedOutside(folder, `${service.url}/data`)
  } finally {
    await service.stop()
  }
}

const aboutTimes = ({ notes }: OutsideReport) => notes.filter((note) => /backdated|times held/.test(note))

describe('an audit from outside of a release that settles a question', () => {
  test('holds every new forecast to the log, and says so', { tags: ['slow'] }, async () => {
    const later = '2026-03-02T20:00:00.000Z'
    const report = await audited([{ at: later, id: idAt(later) }])
    expect(report.faults).toEqual([])
    expect(report.times).toEqual({ forecasts: 2, checked: 2, imported: 0, exempt: 0, unreached: null })
    expect(aboutTimes(report)).toEqual([expect.stringContaining('all 2 forecasts')])
  })

  test('finds a forecast that says a time before a release that lacks it', { tags: ['slow'] }, async () => {
    const told = '2026-03-02T11:30:00.000Z'
    const written = '2026-03-02T23:30:00.000Z'
    const report = await audited([{ at: told, id: idAt(written) }])
    expect(report.ok).toBe(false)
    expect(report.faults).toEqual([
      `forecasts: the forecast ${idAt(written)} is backdated: it says ${told}, and release 2 of ${SECOND} does not have it; expected 2026-03-02T11:50:00.000Z or later`,
    ])
  })

  test(
    'finds one whose id has the same false time, since no release of then has it',
    { tags: ['slow'] },
    async () => {
      const told = '2026-03-02T10:30:00.000Z'
      const { faults } = await audited([{ at: told, id: idAt(told) }])
      expect(faults).toEqual([
        `forecasts: the forecast ${idAt(told)} is shown by release 3, and there is no proof that any release took it in`,
      ])
    },
  )

  test('accuses none that came in the minutes that a write may take', { tags: ['slow'] }, async () => {
    const told = '2026-03-02T11:50:00.001Z'
    expect((await audited([{ at: told, id: idAt(told) }])).faults).toEqual([])
  })
})

test(
  'the first release has a sample of its forecasts checked, and the rest is named as unchecked',
  { tags: ['slow'] },
  async () => {
    const store = copyOf(world.store)
    await writeLog(store, 2)
    const components = await testComponents({ store, folder, settings: { PUBLIC_DATA: 'tables' } })
    const service = await startTestService(components)
    try {
      const report = await auditedOutside(folder, `${service.url}/data/`, { release: 1 })
      expect(report.faults).toEqual([])
      expect(report.times).toEqual({
        forecasts: 104,
        checked: 100,
        imported: 624,
        exempt: 0,
        unreached: null,
      })
      expect(aboutTimes(report)).toEqual([
        expect.stringMatching(
          /^times held to the log by proofs: a sample of 100 of 104 .* the other 4 were not/,
        ),
      ])
      expect(report.notes).toContainEqual(
        expect.stringMatching(/^\d+ forecasts there were imported, and no proof/),
      )
    } finally {
      await service.stop()
    }
  },
)

test('a folder of files has no proofs, which is said', { tags: ['slow'] }, async () => {
  const store = copyOf(world.store)
  await writeLog(store, 2)
  const { url } = await servedFiles(store)
  const report = await auditedOutside(folder, url)
  expect(report).toMatchObject({ ok: true, times: { forecasts: 0, checked: 0 } })
  expect(aboutTimes(report)).toEqual([
    `whether forecasts are backdated was not checked, since ${url} is no address of a service that ends in /data, beside which it has the proofs`,
  ])
})

test(
  'a copy of the files elsewhere under /data has no proofs, which accuses nobody',
  { tags: ['slow'] },
  async () => {
    const store = copyOf(world.store)
    await writeLog(store, 2)
    const { url } = await servedFiles(store, undefined, 'data/')
    const report = await auditedOutside(folder, `${url}/data`)
    expect(report.ok).toBe(true)
    expect(aboutTimes(report)).toEqual([
      `whether forecasts are backdated was not checked, since ${url} shows no log, so that it is not asked for proofs`,
    ])
  },
)
