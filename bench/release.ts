// Makes one release of a store in this process, and prints as one JSON object how long it took and how much
// memory.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Database } from '../pipeline/duckdb.ts'
import { makeRelease } from '../pipeline/release/make.ts'
import { readManifest } from '../pipeline/release/read.ts'
import { canonical, sha256Hex } from '../pipeline/proof/canonical.ts'
import { METHODOLOGY } from '../pipeline/scoring/methodology.ts'
import { LocalFiles } from '../pipeline/store/local-files.ts'
import { FileStore } from '../pipeline/store/file.ts'
import { statisticsOf } from '../pipeline/tables/delta.ts'
import { currentVersions } from '../pipeline/tables/delta-log.ts'
import { WORLD_END } from './world.ts'

export interface ReleaseFigures {
  /** The phases in order, with how long each took and how long it kept cores busy. */
  phases: { name: string; seconds: number; cpuSeconds: number }[]
  seconds: number
  peakBytes: number
  forecasts: number
  pairs: number
  /** Of the manifest, which names the SHA-256 of every other file. */
  manifestSha256: string
}

// Arguments: the folder of the store, DuckDB's threads, its memory, and how many days after the end of the
// world it is made.
const [root, threads = '2', memoryLimit = '1GB', days = '0'] = process.argv.slice(2)
const madeAt = new Date(WORLD_END.getTime() + Number(days) * 86_400_000)
const directory = await mkdtemp(join(tmpdir(), 'fvs-bench-release-'))
try {
  process.stdout.write(`${JSON.stringify(await release(await FileStore.begin(root!)))}\n`)
} finally {
  await rm(directory, { recursive: true, force: true })
}

async function release(store: FileStore): Promise<ReleaseFigures> {
  const phases: ReleaseFigures['phases'] = []
  const started = performance.now()
  let last = started
  let lastCpu = process.cpuUsage()
  const phase = (name: string) => {
    const now = performance.now()
    const { user, system } = process.cpuUsage(lastCpu)
    phases.push({ name, seconds: (now - last) / 1000, cpuSeconds: (user + system) / 1e6 })
    last = now
    lastCpu = process.cpuUsage()
  }
  let databases = 0
  const result = await makeRelease({
    methodology: METHODOLOGY,
    store,
    local: new LocalFiles(store, directory),
    directory,
    openDatabase: () => {
      databases += 1
      if (databases === 2) phase('looked for what to take in')
      return Database.open({ threads: Number(threads), memoryLimit, directory })
    },
    environment: 'production',
    secrets: { current: 'bench' },
    signers: [],
    clockAheadMs: undefined,
    service: 'bench',
    now: () => madeAt,
    wait: () => Promise.resolve(),
    log: phase,
  })
  phase('wrote the snapshot')
  if (!result.made) throw new Error(`no release was made: ${result.reason}`)
  const { forecasts } = await currentVersions(store)
  return {
    phases,
    seconds: (last - started) / 1000,
    peakBytes: process.resourceUsage().maxRSS * 1024,
    forecasts: forecasts.files.reduce((sum, file) => sum + statisticsOf(file).numRecords, 0),
    pairs: result.pairs,
    manifestSha256: sha256Hex(canonical(await readManifest(store, result.release))),
  }
}
