// Every kind of object, damaged in every way: what happens, as bench/notes/damage.md says, and that no altered
// byte is signed, scored or served.
import { readFile, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import {
  CURRENT,
  type DamagedWorld,
  type Outcome,
  type Whole,
  outcomeOf,
  outcomeOfCopies,
  wholeOf,
  worldToDamage,
  worldWithPlan,
} from '../support/worlds/damaged-world.ts'
import { DAMAGES, KINDS, damage, damaged, pathsOf } from './damages.ts'
import { suiteFolder } from '../support/folder.ts'
import { tableUnder } from '../support/page-table.ts'
import { copyOf } from '../support/store-content.ts'

const folder = await suiteFolder()
const worlds: { world: DamagedWorld; whole: Whole }[] = []
const SHARES = { 'bit flipped': [0.08, 0.93], truncated: [0, 0.5], gone: [0], swapped: [0] }
const rows: string[][] = []

beforeAll(async () => {
  const world = await worldToDamage(folder)
  for (const each of [world, await worldWithPlan(world)]) {
    worlds.push({ world: each, whole: await wholeOf(each) })
  }
})

const textOf = ({ release, audit, serving }: Outcome) => `${release} · ${audit} · ${serving}`

describe('a damaged', () => {
  test.for(Object.entries(KINDS))('%s', async ([name, kind]) => {
    const { world, whole } = worlds[kind.planned ? 1 : 0]!
    const cells: string[] = []
    for (const how of DAMAGES) {
      const texts = new Set<string>()
      for (const share of SHARES[how]) {
        const store = copyOf(world.store)
        const victims = damage(store, pathsOf(world, kind), how, share)
        const text = textOf(await outcomeOf({ ...world, store }, whole, victims, kind.audited ?? CURRENT))
        // What is gone without a trace is missed by nobody. What is there and was altered is never gone by.
        if (how !== 'gone') expect(text).not.toMatch(/other bytes|other content/)
        texts.add(text)
      }
      cells.push([...texts].join('; or '))
    }
    expect(cells).toHaveLength(DAMAGES.length)
    rows.push([name, ...cells])
  })

  test('local copy', async () => {
    const { world, whole } = worlds[0]!
    const cells: string[] = []
    for (const how of DAMAGES) {
      const damageCopies = async (cache: string) => {
        const files = (await readdir(cache, { recursive: true }))
          .filter((name) => name.endsWith('.parquet'))
          .map((name) => join(cache, name))
        expect(files.length).toBeGreaterThan(3)
        const contents = await Promise.all(files.map((file) => readFile(file)))
        for (const [index, file] of files.entries()) {
          const bytes = contents[index]!
          if (how === 'gone') await rm(file)
          else if (how === 'swapped') await writeFile(file, contents.at(index - 1)!)
          else await writeFile(file, damaged(bytes, how, 0.5))
        }
      }
      const text = textOf(await outcomeOfCopies(world, whole, damageCopies))
      expect(text, how).toBe('same bytes · passes · not tried')
      cells.push(text)
    }
    rows.push(['local copy', ...cells])
  })

  test('object leads to what is written down', async () => {
    expect([['object', ...DAMAGES], ...rows]).toEqual(tableUnder('bench/notes/damage.md', '## Each object'))
  })
})
