// Some days of a long history, for a page: never more than it asks for, and the last of them always.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { History } from '../../../api/published/history.ts'
import { MemoryStore } from '../../../pipeline/store/memory.ts'
import { recordBytes } from '../../../pipeline/store/records.ts'
import { snapshotManifestPath } from '../../../pipeline/store/paths.ts'

const dayOf = (index: number) => new Date(Date.UTC(2026, 0, 1 + index)).toISOString().slice(0, 10)

/** Notes which days it is asked for. */
class ReadDays extends MemoryStore {
  readonly days: string[] = []

  override get(path: string) {
    const day = /^snapshots\/([\d-]+)\/manifest\.json$/.exec(path)?.[1]
    if (day !== undefined) this.days.push(day)
    return super.get(path)
  }
}

test('a page reads at most as many days as it shows, in equal steps up to the last', async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 0, max: 60 }), fc.integer({ min: 1, max: 20 }), async (days, most) => {
      const store = new ReadDays()
      for (let day = 0; day < days; day++) {
        const path = snapshotManifestPath(dayOf(day))
        await store.putIfAbsent(path, recordBytes(path, { date: dayOf(day), release: day + 1, files: [] }))
      }
      const history = new History(store, 1_000)
      await history.refresh()
      const end = Math.floor(days * 0.8)
      expect(await history.some('agent', 'a', dayOf(end), most)).toEqual([])
      const read = store.days
        .toSorted()
        .map((day) => Math.round((Date.parse(day) - Date.UTC(2026, 0, 1)) / 86_400_000))
      expect(read).toHaveLength(Math.min(most, days === 0 ? 0 : end + 1))
      if (read.length > 0) expect(read.at(-1)).toBe(end)
      const steps = read.slice(1).map((day, index) => day - read[index]!)
      if (steps.length > 0) expect(Math.max(...steps) - Math.min(...steps)).toBeLessThanOrEqual(1)
    }),
    { numRuns: 50 },
  )
})
