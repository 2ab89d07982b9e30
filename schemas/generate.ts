// `npm run schemas`: writes the documentation's generated tables from the zod schemas.
import { readFile, writeFile } from 'node:fs/promises'
import { GENERATED, withGenerated } from './documents.ts'

for (const [page, parts] of Object.entries(GENERATED)) {
  const file = new URL(`../${page}`, import.meta.url)
  await writeFile(file, withGenerated(await readFile(file, 'utf8'), parts))
}
