// What publishing a hundred thousand entities takes, from their scores to durable files, beside a durable
// copy of the same files.
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { run, runCommand, type Timed } from '../process.ts'
import type { ReleaseFigures } from '../release.ts'
import { worldSize, worldStore } from '../world.ts'

/** Ten questions for each entity, so that most of a release is what it publishes. */
const SIZE = worldSize(1_000_000, 2_000, 100_000, 1)
/** The phases of a release in which it makes its files and stores them, but for the tree of forecasts. */
const isPublishing = ({ name }: ReleaseFigures['phases'][number]) =>
  name.startsWith('made ') && name !== 'made tree of forecasts'

export interface PublishingFigures {
  entities: number
  files: number
  bytes: number
  turns: { published: Timed; copied: Timed }[]
}

export async function measurePublishing(turns: number): Promise<PublishingFigures> {
  const all: PublishingFigures['turns'] = []
  let size = { files: 0, bytes: 0 }
  for (let turn = 0; turn < turns; turn++) {
    const store = await worldStore(SIZE)
    const { phases } = JSON.parse(await run('release.ts', store)) as ReleaseFigures
    const own = phases.filter(isPublishing)
    const sum = (unit: 'seconds' | 'cpuSeconds') => own.reduce((total, phase) => total + phase[unit], 0)
    const published = { seconds: sum('seconds'), cpuSeconds: sum('cpuSeconds') }
    const folder = join(store, 'releases')
    size = await sizeOf(folder)
    all.push({ published, copied: await copied(folder) })
  }
  return { entities: SIZE.entities, ...size, turns: all }
}

/** By `cp`, and then to the disk. */
async function copied(folder: string): Promise<Timed> {
  const copy = await mkdtemp(join(dirname(dirname(folder)), 'copy-'))
  try {
    return await runCommand('bash', ['-c', 'cp -r "$0" "$1" && sync -f "$1"', folder, copy])
  } finally {
    await rm(copy, { recursive: true, force: true })
  }
}

async function sizeOf(folder: string): Promise<{ files: number; bytes: number }> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile())
  const stats = await Promise.all(files.map(({ parentPath, name }) => stat(join(parentPath, name))))
  return { files: files.length, bytes: stats.reduce((sum, one) => sum + one.size, 0) }
}
