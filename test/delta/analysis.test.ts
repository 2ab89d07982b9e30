// examples/analysis, run as its readers run it: the figures are drawn, from numbers that are those published.
import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { Database, literal } from '../../pipeline/duckdb.ts'
import { FileStore } from '../../pipeline/store/file.ts'
import { RunningCommand } from '../support/command.ts'
import { REPOSITORY } from '../support/fenced-blocks.ts'
import { suiteFolder } from '../support/folder.ts'
import { python } from '../support/python-reader.ts'
import { copyReleasedWorld } from '../support/worlds/world.ts'

interface Numbers {
  release: number
  skill: { entity_id: string; skill: number; lower: number; upper: number }[]
  calibration: Record<string, { miscalibration: number; discrimination: number }>
}

type Entity = Record<
  'skill' | 'skill_lower' | 'skill_upper' | 'miscalibration' | 'discrimination',
  number
> & {
  entity_id: string
}

const folder = await suiteFolder()
const data = join(folder, 'store')
const drawn = join(folder, 'drawn')

const draw = () =>
  new RunningCommand(python!.DELTA_PYTHON, ['-B', 'examples/analysis/analysis.py', data, drawn], {
    cwd: REPOSITORY,
    env: { MPLBACKEND: 'agg', MPLCONFIGDIR: folder },
  }).ended

describe.skipIf(!python)('examples/analysis', () => {
  beforeAll(async () => {
    await copyReleasedWorld(await FileStore.begin(data))
  })

  test('draws six figures, each with a claim, from the skills and the calibration that are published', async () => {
    const { code, stdout, stderr } = await draw()
    expect(code, stderr).toBe(0)
    const figures = readdirSync(drawn).filter((name) => name.endsWith('.png'))
    expect(figures.toSorted()).toEqual([
      'agents-and-people.png',
      'calibration.png',
      'difficulty.png',
      'head-to-head.png',
      'over-time.png',
      'ten-turned.png',
    ])
    expect(stdout.trimEnd().split('\n\n')).toHaveLength(figures.length)
    const { release, skill, calibration } = JSON.parse(
      readFileSync(join(drawn, 'numbers.json'), 'utf8'),
    ) as Numbers
    expect(release).toBe(1)
    using database = await Database.open({ threads: 1, memoryLimit: '256MB', directory: folder })
    const entities = await database.rows<Entity>(
      `FROM read_parquet(${literal(join(data, 'releases/00000001/entities/*.parquet'))}) WHERE contested_questions > 0`,
    )
    const published = new Map(entities.map((entity) => [entity.entity_id, entity]))
    expect(skill).toHaveLength(published.size)
    for (const derived of skill) {
      const { skill: stated, skill_lower: lower, skill_upper: upper } = published.get(derived.entity_id)!
      expectClose([derived.skill, derived.lower, derived.upper], [stated, lower, upper])
    }
    expect(Object.keys(calibration).length).toBeGreaterThan(1)
    for (const [entity, derived] of Object.entries(calibration)) {
      const { miscalibration, discrimination } = published.get(entity)!
      expectClose([derived.miscalibration, derived.discrimination], [miscalibration, discrimination])
    }
  })

  test('draws nothing from a file that is not the one of the manifest', async () => {
    const path = join(data, 'releases/00000001/scores/000.parquet')
    expect(existsSync(path)).toBe(true)
    const bytes = readFileSync(path)
    bytes[100]! ^= 1
    writeFileSync(path, bytes)
    const { code, stderr } = await draw()
    expect(code).toBe(1)
    expect(stderr).toContain('scores/000.parquet: its SHA-256 is not that of the manifest')
  })
})

/** Published numbers have six decimals, and doubles may round a tie to the other side. */
function expectClose(derived: number[], published: number[]): void {
  for (const [index, value] of derived.entries()) {
    expect(Math.abs(value - published[index]!)).toBeLessThan(1.5e-6)
  }
}
