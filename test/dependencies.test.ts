// What the lock file installs: each package with the hash of its archive, and in production only packages under
// free licences, the rarer of which docs/licences.md names.
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { tableUnder } from './support/page-table.ts'

const ROOT = new URL('../', import.meta.url)
const LOCKS = [
  'package-lock.json',
  'test/openapi/clients/package-lock.json',
  'test/openapi/inspector/package-lock.json',
]

/**
 * The licences that a dependency in production may have, by their SPDX identifiers. All are free, and all but
 * MPL-2.0 permissive: resvg is under it, and its duties end at its own files, none of which we change. Another one
 * needs a decision.
 */
const FREE = new Set([
  '0BSD',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'Bitstream-Vera',
  'BlueOak-1.0.0',
  'ISC',
  'MIT',
  'MPL-2.0',
  'PSF-2.0',
])

/** The licences of nearly all packages. */
const USUAL = /^(MIT|ISC|Apache-2\.0|BSD-\d-Clause|0BSD)$/

/** Packages that name a text in the place of an identifier. */
const BY_TEXT: Record<string, string> = { 'dejavu-fonts-ttf': 'Bitstream-Vera' }

const lockFile = z.object({
  packages: z.record(
    z.string(),
    z.object({
      name: z.string().optional(),
      version: z.string().default(''),
      integrity: z.string().optional(),
      resolved: z.string().optional(),
      license: z.string().optional(),
      dev: z.boolean().optional(),
    }),
  ),
})

interface Locked {
  folder: string
  name: string
  version: string
  integrity: string | undefined
  resolved: string | undefined
  licence: string | undefined
  isProduction: boolean
}

async function lockedIn(file: string): Promise<Locked[]> {
  const { packages } = lockFile.parse(JSON.parse(await readFile(new URL(file, ROOT), 'utf8')))
  return Object.entries(packages)
    .filter(([folder]) => folder !== '')
    .map(([folder, { name, version, integrity, resolved, license, dev }]) => ({
      folder,
      name: name ?? nameOf(folder),
      version,
      integrity,
      resolved,
      licence: BY_TEXT[nameOf(folder)] ?? license,
      isProduction: dev !== true,
    }))
}

function nameOf(folder: string): string {
  return folder.split('node_modules/').at(-1)!
}

const production = (await lockedIn(LOCKS[0]!)).filter(({ isProduction }) => isProduction)

test.for(LOCKS)('%s has the hash of every archive, and no address', async (file) => {
  const locked = await lockedIn(file)
  expect(locked.length).toBeGreaterThan(0)
  const isHash = (text = '') => /^sha512-[A-Za-z0-9+/]{86}==$/.test(text)
  expect(locked.filter(({ integrity }) => !isHash(integrity)).map(({ folder }) => folder)).toEqual([])
  expect(locked.filter(({ resolved }) => resolved !== undefined).map(({ folder }) => folder)).toEqual([])
})

test('every dependency in production is under a free licence', () => {
  expect(production.length).toBeGreaterThan(100)
  const others = production.filter(({ licence }) => licence === undefined || !FREE.has(licence))
  expect(others.map(({ folder, licence }) => `${folder}: ${licence}`)).toEqual([])
})

test('the licences of the lock file are those that the installed packages name', async () => {
  const named = z.object({ license: z.string() })
  for (const { folder, name, licence } of production) {
    if (name in BY_TEXT) continue
    const manifest = new URL(`${folder}/package.json`, ROOT)
    // Packages for other systems are not installed.
    if (!existsSync(manifest)) continue
    expect(named.parse(JSON.parse(await readFile(manifest, 'utf8'))).license, folder).toBe(licence)
  }
})

test('docs/licences.md names every dependency in production under a rarer licence', () => {
  const [, ...rows] = tableUnder('docs/licences.md', '## Other licences')
  const others = production.filter(({ licence }) => !USUAL.test(licence!))
  const named = others.map(({ name, licence }) => `${name}: ${licence}`)
  expect(rows.map(([name, licence]) => `${name!.slice(1, -1)}: ${licence}`)).toEqual(
    [...new Set(named)].toSorted(),
  )
})
