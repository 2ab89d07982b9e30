// `npm run schemas`: writes schemas/json/<name>.json anew from the schemas that validate.
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { schemaTexts } from './json-schemas.ts'

const folder = new URL('json/', import.meta.url)
await rm(folder, { recursive: true, force: true })
await mkdir(folder)
for (const [name, text] of schemaTexts()) await writeFile(new URL(`${name}.json`, folder), text)
