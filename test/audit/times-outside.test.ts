// An audit over HTTP holds the times of settled forecasts to the log: nobody needs the store to find one that
// was written down later than it says.
import { v7 as uuidv7 } from 'uuid'
import { beforeAll, describe, expect, test } from 'vitest'
import type { OutsideReport } from '../../pipeline/audit/outside.ts'
import { MemoryStore } from '../../pipeline/store/memory.ts'
import { auditedOutside } from '../support/audited-outside.ts'
import { suiteFolder } from '../support/folder.ts'
import { apiForecast } from '../support/http/api-forecasts.ts'
import { Clock, importRows, release, startTestService, testComponents } from '../support/http/service.ts'
import { servedFiles } from '../support/served-data.ts'
import { copyOf } from '../support/store-content.ts'
import { send } from '../support/tables.ts'
import { QUESTION, copyReleasedWorld } from '../support/worlds/world.ts'
import { writeLog } from '../support/worlds/written-log.ts'

const SECOND = '2026-03-02T12:00:00.000Z'
const THIRD = '2026-03-03T12:00:00.000Z'
const HONEST = '2026-03-02T11:00:00.000Z'
const folder = await suiteFolder()
/** The agent has forecast the open question in time, which the second release takes in. */
let begun: MemoryStore
let agentId: string
const idAt = (time: string) => uuidv7({ msecs: Date.parse(time), random: new Uint8Array(16).fill(7), seq: 1 })

beforeAll(async () => {
  begun = new MemoryStore()
  ;({ agentId } = await copyReleasedWorld(begun))
  await send(begun, 'forecasts', 'a', [apiForecast(agentId, 0, HONEST, 0.25, idAt(HONEST)).row])
  await releaseAt(begun, SECOND)
})

async function releaseAt(store: MemoryStore, at: string, csv?: string) {
  const components = await testComponents({ store, folder, clock: new Clock(at) })
  if (csv !== undefined) await importRows(components, 'resolutions', csv)
  await release(components)
}

/** Settles the open question after more forecasts on it have come, and lets the service show it. */
async function audited(
  more: { at: string; id: string }[],
  change: (store: MemoryStore) => void = () => undefined,
): Promise<OutsideReport> {
  const store = copyOf(begun)
  const rows = more.map(({ at, id }, nth) => apiForecast(agentId, 10 + nth, at, 0.125, id).row)
  if (rows.length > 0) await send(store, 'forecasts', 'z', rows)
  const settled = '2026-03-03T00:00:00Z'
  await importQuestionEnd(store)
  await releaseAt(store, THIRD, `question_id,outcome,resolved_at\n${QUESTION.open},yes,${settled}\n`)
  await writeLog(store, 3)
  change(store)
  const components = await testComponents({ store, folder, settings: { PUBLIC_DATA: 'tables' } })
  const service = await startTestService(components)
  try {
    return await auditedOutside(folder, `${service.url}/data`)
  } finally {
    await service.stop()
  }
}

/** The question closes early, so that it is settled. */
async function importQuestionEnd(store: MemoryStore): Promise<void> {
  const components = await testComponents({ store, folder, clock: new Clock(THIRD) })
  const columns = 'question_id,title,category,url,opened_at,closes_at'
  const row = `${QUESTION.open},Open?,,https://example.org/open,2026-01-01T00:00:00Z,2026-03-02T23:00:00Z`
  await importRows(components, 'questions', `${columns}\n${row}\n`)
}

const aboutTimes = ({ notes }: OutsideReport) => notes.filter((note) => /backdated|times held/.test(note))

describe('an audit from outside of a release that settles a question', () => {
  test('holds every new forecast to the log, and says so', async () => {
    const later = '2026-03-02T20:00:00.000Z'
    const report = await audited([{ at: later, id: idAt(later) }])
    expect(report.faults).toEqual([])
    expect(report.times).toEqual({ forecasts: 2, checked: 2, imported: 0, exempt: 0, unreached: null })
    expect(aboutTimes(report)).toEqual([expect.stringContaining('all 2 forecasts')])
  })

  test('finds a forecast that says a time before a release that lacks it', async () => {
    const told = '2026-03-02T11:30:00.000Z'
    const written = '2026-03-02T23:30:00.000Z'
    const report = await audited([{ at: told, id: idAt(written) }])
    expect(report.ok).toBe(false)
    expect(report.faults).toEqual([
      `forecasts: the forecast ${idAt(written)} is backdated: it says ${told}, and release 2 of ${SECOND} does not have it; expected 2026-03-02T11:50:00.000Z or later`,
    ])
  })

  test('finds one whose id has the same false time, since no release of then has it', async () => {
    const told = '2026-03-02T10:30:00.000Z'
    const { faults } = await audited([{ at: told, id: idAt(told) }])
    expect(faults).toEqual([
      `forecasts: the forecast ${idAt(told)} is shown by release 3, and there is no proof that any release took it in`,
    ])
  })

  test('accuses none that came in the minutes that a write may take', async () => {
    const told = '2026-03-02T11:50:00.001Z'
    expect((await audited([{ at: told, id: idAt(told) }])).faults).toEqual([])
  })
})

test('the first release has a sample of its forecasts checked, and the rest is named as unchecked', async () => {
  const store = copyOf(begun)
  await writeLog(store, 2)
  const components = await testComponents({ store, folder, settings: { PUBLIC_DATA: 'tables' } })
  const service = await startTestService(components)
  try {
    const report = await auditedOutside(folder, `${service.url}/data/`, { release: 1 })
    expect(report.faults).toEqual([])
    expect(report.times).toEqual({ forecasts: 104, checked: 100, imported: 624, exempt: 0, unreached: null })
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
})

test('a folder of files has no proofs, which is said', async () => {
  const store = copyOf(begun)
  await writeLog(store, 2)
  const { url } = await servedFiles(store)
  const report = await auditedOutside(folder, url)
  expect(report).toMatchObject({ ok: true, times: { forecasts: 0, checked: 0 } })
  expect(aboutTimes(report)).toEqual([
    `whether forecasts are backdated was not checked, since ${url} is no address of a service that ends in /data, beside which it has the proofs`,
  ])
})

test('a copy of the files elsewhere under /data has no proofs, which accuses nobody', async () => {
  const store = copyOf(begun)
  await writeLog(store, 2)
  const { url } = await servedFiles(store, undefined, 'data/')
  const report = await auditedOutside(folder, `${url}/data`)
  expect(report.ok).toBe(true)
  expect(aboutTimes(report)).toEqual([
    `whether forecasts are backdated was not checked, since ${url} shows no log, so that it is not asked for proofs`,
  ])
})
