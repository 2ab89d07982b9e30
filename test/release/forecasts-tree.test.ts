// The tree of forecasts is made a range of ids at a time: it is the same tree, however the ids are cut.
import { readFile, readdir } from 'node:fs/promises'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Database } from '../../pipeline/duckdb.ts'
import { base64Of } from '../../pipeline/proof/base64.ts'
import { MerkleTree } from '../../pipeline/proof/merkle.ts'
import { treeOfLeaves } from '../../pipeline/release/files/forecasts-tree.ts'
import { encodeRows } from '../../pipeline/tables/inbox.ts'
import { noRows } from '../../pipeline/tables/columns.ts'
import { type ApiForecast, apiForecast } from '../support/http/api-forecasts.ts'
import { testFolder } from '../support/folder.ts'
import { localFile } from '../support/local-file.ts'
import { uuidOf } from '../support/worlds/world.ts'
import { runs } from '../support/runs.ts'

const AT = '2026-03-01T12:10:00.123Z'

/** A forecast whose id begins with these 8 digits. */
function forecastOf(first: string, number: number, probability = 0.5): ApiForecast {
  return apiForecast(uuidOf(4, 1), number, AT, probability, first + uuidOf(7, number).slice(8))
}

/** What is at the root of the plain tree of forecasts, and the records of its file. */
function plainTree(forecasts: readonly ApiForecast[]) {
  const inOrder = forecasts.toSorted((a, b) => (a.id < b.id ? -1 : 1))
  const records = inOrder.map(({ id, leaf }) =>
    Buffer.concat([Buffer.from(id.replaceAll('-', ''), 'hex'), leaf]),
  )
  return {
    root: base64Of(new MerkleTree(inOrder.map(({ leaf }) => leaf)).root),
    records: Buffer.concat(records),
  }
}

/** A database with these forecasts in its view `added`, and a folder with nothing in it. */
async function added(forecasts: readonly ApiForecast[]) {
  const directory = await testFolder()
  const { location } = await localFile(
    encodeRows(
      'forecasts',
      forecasts.map(({ row }) => row),
    ),
  )
  const database = await Database.open({ threads: 2, memoryLimit: '256MB', directory })
  await database.run(`CREATE VIEW added AS FROM read_parquet('${location}')`)
  await database.run(`CREATE VIEW earlier AS ${noRows('forecasts')}`)
  return { database, directory }
}

const digits = fc.stringMatching(/^019c[0-3]00[0-3]$/)

test('any ids, cut into ranges of any size, have one tree', { tags: ['slow'] }, async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(digits, { minLength: 1, maxLength: 40 }),
      fc.integer({ min: 1, max: 20 }),
      async (firsts, perRange) => {
        const forecasts = firsts.map((first, number) => forecastOf(first, number, number / 1e6))
        const { database, directory } = await added(forecasts)
        using _ = database
        await using tree = await treeOfLeaves({ database, directory }, perRange)
        const plain = plainTree(forecasts)
        expect(tree?.rows).toBe(forecasts.length)
        expect(base64Of(tree!.subtree.root)).toBe(plain.root)
        expect(await readFile(tree!.file.location)).toEqual(plain.records)
        expect(await readdir(directory)).toEqual(['forecasts.tree'])
      },
    ),
    { numRuns: runs(30) },
  )
})

test('a forecast that was written twice has one leaf, in whichever ranges', async () => {
  const forecasts = ['019c0000', '019c0001', '019c0002'].map((first, number) => forecastOf(first, number))
  const { database, directory } = await added([...forecasts, forecasts[1]!])
  using _ = database
  await using tree = await treeOfLeaves({ database, directory }, 1)
  expect(tree?.rows).toBe(3)
  expect(base64Of(tree!.subtree.root)).toBe(plainTree(forecasts).root)
})

test('no forecast has no tree', async () => {
  const { database, directory } = await added([])
  using _ = database
  expect(await treeOfLeaves({ database, directory }, 1)).toBeUndefined()
  expect(await readdir(directory)).toEqual([])
})

test('a range that cannot be read fails the tree, and leaves no file', async () => {
  const forecasts = ['019c0000', '019c0001', '019c0002'].map((first, number) => forecastOf(first, number))
  const { database, directory } = await added(forecasts)
  using _ = database
  await database.run(
    `CREATE OR REPLACE TEMP VIEW added AS SELECT * REPLACE (
       if(forecast_id LIKE '019c0001%', error('row lost'), entity_id) AS entity_id) FROM memory.main.added`,
  )
  await expect(treeOfLeaves({ database, directory }, 1)).rejects.toThrow('row lost')
  expect(await readdir(directory)).toEqual([])
})
