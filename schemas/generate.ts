// `npm run schemas`: writes schemas/json/<name>.json, and the documentation's generated tables, from the zod
// schemas.
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { GENERATED, withGenerated } from './documents.ts'
import { schemaTexts } from './json-schemas.ts'

const folder = new URL('json/', import.meta.url)
await rm(folder, { recursive: true, force: true })
await mkdir(folder)
for (const [name, text] of schemaTexts()) await writeFile(new URL(`${name}.json`, folder), text)

for (const [page, parts] of Object.entries(GENERATED)) {
  const file = new URL(`../${page}`, import.meta.url)
  await writeFile(file, withGenerated(await readFile(file, 'utf8'), parts))
}
