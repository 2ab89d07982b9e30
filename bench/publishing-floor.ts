// What no way of publishing saves: the hashes and the durable writing of the files of a release, and V8's own
// JSON of its payloads. node bench/publishing-floor.ts FOLDER    where FOLDER is that of a release,
// `releases/00000001` of a store
import { createHmac, hash } from 'node:crypto'
import { mkdtemp, open, readFile, readdir, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { ReleaseShard } from '../schemas/payloads.ts'
import { isShardPath } from '../pipeline/store/paths.ts'

const print = (line: string) => process.stdout.write(`${line}\n`)
const folder = process.argv[2]!
const entries = await readdir(folder, { recursive: true, withFileTypes: true })
const paths = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name))
const files = await Promise.all(paths.map((path) => readFile(path)))
const shards = files
  .filter((_, index) => isShardPath(paths[index]!.slice(folder.length).replace(/^\//, '')))
  .map((bytes) => JSON.parse(bytes.toString()) as ReleaseShard)
print(`${files.length} files of ${sizeOf(files)} MB`)

await measured('SHA-256 of every file', () => {
  for (const bytes of files) hash('sha256', bytes, 'hex')
})
// In parts, so that the payloads need not be held all at once.
const all = { payloads: 0, json: 0, leaves: 0, signatures: 0 }
for (const { entities } of shards) {
  const payloads = Object.values(entities).flatMap((kinds) => Object.values(kinds).map((one) => one!.payload))
  let texts: Buffer[] = []
  all.payloads += payloads.length
  all.json += cpuOf(() => (texts = payloads.map((payload) => Buffer.from(JSON.stringify(payload)))))
  all.leaves += cpuOf(() => texts.forEach((text) => hash('sha256', text, 'hex')))
  all.signatures += cpuOf(() => texts.forEach((text) => createHmac('sha256', 'bench').update(text).digest()))
}
print(`${all.json.toFixed(2)} CPU s  JSON.stringify of ${all.payloads} payloads, and UTF-8`)
print(`${all.leaves.toFixed(2)} CPU s  SHA-256 of every payload`)
print(`${all.signatures.toFixed(2)} CPU s  HMAC-SHA-256 of every payload`)

const copy = await mkdtemp(join(dirname(dirname(folder)), 'copy-'))
try {
  await measured('every file written, synced and renamed, one at a time', async () => {
    for (const [index, bytes] of files.entries()) {
      const staged = join(copy, 'staged')
      await using file = await open(staged, 'w')
      await file.writeFile(bytes)
      await file.sync()
      await rename(staged, join(copy, String(index)))
    }
  })
} finally {
  await rm(copy, { recursive: true, force: true })
}

async function measured(what: string, work: () => void | Promise<void>): Promise<void> {
  const started = performance.now()
  const before = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(before)
  const seconds = (performance.now() - started) / 1000
  print(`${((user + system) / 1e6).toFixed(2)} CPU s, ${seconds.toFixed(2)} s  ${what}`)
}

function cpuOf(work: () => unknown): number {
  const before = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1e6
}

function sizeOf(parts: readonly Uint8Array[]): number {
  return Math.round(parts.reduce((sum, { byteLength }) => sum + byteLength, 0) / 1e6)
}
