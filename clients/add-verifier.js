// Puts the verifier of the pages into the package of the TypeScript client, as a module.
import { writeFileSync } from 'node:fs'
import { bundledForReaders } from '../api/pages/bundle.ts'

const [folder = new URL('typescript/dist', import.meta.url).pathname] = process.argv.slice(2)
const source = new URL('../pipeline/proof/reader.ts', import.meta.url)
writeFileSync(`${folder}/verify.js`, await bundledForReaders(source))
