// Every object of a store, every call and every page: who says the name of a person, and who does once it was
// taken back.
import { parquetReadObjects } from 'hyparquet'
import { describe, expect, onTestFinished, test } from 'vitest'
import { runErase } from '../../jobs/operator/people.ts'
import { PEOPLE_PREFIX } from '../../pipeline/store/paths.ts'
import { MemoryStore } from '../../pipeline/store/memory.ts'
import { COMPRESSORS } from '../../pipeline/tables/compressors.ts'
import { completeLog } from '../../pipeline/transparency/publish.ts'
import { testFolder } from '../support/folder.ts'
import { Clock, importRows, release, startTestService, testComponents } from '../support/http/service.ts'
import { NOW, copyReleasedWorld, forecasterId, uuidOf } from '../support/worlds/world.ts'
import { LOG_KEY } from '../support/worlds/written-log.ts'

const NAME = 'Zaphod Beeblebrox'
const PERSON = forecasterId(0)
const CSV = `user_id,display_name\n${PERSON},${NAME}\n${forecasterId(1)},Trillian\n`

/** The paths of the objects with the name, in plain text or in a column of Parquet. */
async function pathsWith(store: MemoryStore, name: string): Promise<string[]> {
  const found: string[] = []
  for (const [path, bytes] of store.objects) {
    const rows = path.endsWith('.parquet')
      ? await parquetReadObjects({ file: bytes.slice().buffer, compressors: COMPRESSORS })
      : []
    const decoded = JSON.stringify(rows, (_, value: unknown) =>
      typeof value === 'bigint' ? String(value) : value,
    )
    if (`${path} ${Buffer.from(bytes).toString()} ${decoded}`.includes(name)) found.push(path)
  }
  return found
}

describe('the name of a person', () => {
  test('is in one object and on pages, and nowhere once it was taken back', { tags: ['slow'] }, async () => {
    const folder = await testFolder()
    const store = new MemoryStore()
    await copyReleasedWorld(store)
    const settings = { REFRESH_MS: '100' }
    const made = await testComponents({ store, folder, clock: new Clock(NOW), settings })
    const components = { ...made, signers: [LOG_KEY] }
    await importRows(components, 'forecasters', CSV)
    await release(components)
    await completeLog(components, 2)
    const service = await startTestService(components)
    onTestFinished(service.stop)
    const { client } = service
    const records = ['', '/verification', '/rankings', '/scores', '/card.svg'].map(
      (end) => `/forecaster/${PERSON}${end}`,
    )
    const calls = [
      ...records.slice(0, -1),
      '/leaderboard/forecaster',
      '/leaderboard/forecaster?q=zaphod',
      `/compare?a=${PERSON}&b=${forecasterId(1)}`,
      '/releases/current',
    ]
    const pages = [
      '/',
      '/view/forecasters',
      `/view/forecasters/${PERSON}`,
      `/view/forecasters/${PERSON}/questions`,
      `/view/compare?a=${PERSON}&b=${forecasterId(1)}`,
      '/view/search?q=question',
      `/view/search?q=Trillian&in=people`,
      records.at(-1)!,
    ]
    const saying = async (paths: readonly string[], name = NAME) => {
      const answers = await Promise.all(paths.map(async (path) => ({ path, ...(await client.get(path)) })))
      expect(answers.filter(({ status }) => status !== 200).map(({ path }) => path)).toEqual([])
      return answers.filter(({ text }) => text.includes(name)).map(({ path }) => path)
    }

    expect(await pathsWith(store, NAME)).toEqual([expect.stringContaining(PEOPLE_PREFIX)])
    expect(await saying(calls)).toEqual([])
    expect(await saying(pages)).toEqual(['/view/forecasters', ...pages.slice(2, 5), records.at(-1)])
    expect(await saying(['/view/search?q=zaphod&in=people'])).toHaveLength(1)

    const { json, text } = await runErase(components, PERSON, 'asked by letter of 3 March')
    expect(json).toMatchObject({ was_named: true })
    expect(text).toBe(
      `the name of ${PERSON} is taken back: every node forgets it at its next look, within seconds`,
    )
    expect(await pathsWith(store, NAME)).toEqual([])
    expect(await importRows(components, 'forecasters', CSV)).toMatchObject({
      added: 0,
      changed: 0,
      unchanged: 2,
    })
    await release(components)
    expect(await pathsWith(store, NAME)).toEqual([])
    await expect.poll(() => saying(pages)).toEqual([])
    expect(await saying([...calls, '/view/search?q=zaphod&in=people'])).toEqual([])
    expect((await client.get(`/people?ids=${PERSON},${forecasterId(1)}`)).json()).toMatchObject({
      people: [{ name: null }, { name: 'Trillian' }],
    })
    expect(await saying(pages, 'Trillian')).not.toEqual([])
  })

  test('of nobody whom the store knows is refused', async () => {
    const store = new MemoryStore()
    const components = await testComponents({ store, folder: await testFolder(), clock: new Clock(NOW) })
    await expect(runErase(components, uuidOf(9, 9), 'a slip')).rejects.toMatchObject({ kind: 'notFound' })
    expect(store.objects).toEqual(new Map())
  })
})
