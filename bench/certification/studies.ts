// All studies: those of the folders `attacks` and `honest`, a file each or a few, found by their names.
import { readdirSync } from 'node:fs'
import { sfc32 } from '../../jobs/sandbox/random.ts'
import type { Study, Values } from './study.ts'

const SEED = 20_260_101

const files = ['honest', 'attacks'].flatMap((folder) =>
  readdirSync(new URL(`${folder}/`, import.meta.url))
    .toSorted()
    .map((file) => `./${folder}/${file}`),
)

export const STUDIES = new Map<string, Study>()
for (const file of files) {
  const { studies } = (await import(file)) as { studies: Record<string, Study> }
  const folder = file.replace(/^.*\/(.*)\.ts$/, '$1')
  for (const [name, study] of Object.entries(studies)) STUDIES.set(`${folder} ${name}`.trim(), study)
}

/** FNV-1a of a name, so that a study's worlds do not depend on the other studies. */
function hashOf(name: string): number {
  let hash = 0x811c9dc5
  for (const byte of Buffer.from(name)) hash = Math.imul(hash ^ byte, 0x01000193)
  return hash
}

/** The values of the world with this number of a study. */
export function simulate(name: string, world: number): Values {
  return STUDIES.get(name)!.simulate(sfc32(SEED ^ hashOf(name), world))
}
