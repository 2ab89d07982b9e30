// Puts the verifier that the service publishes into the package, as a module.
import { readFileSync, writeFileSync } from 'node:fs'

const [folder = new URL('dist', import.meta.url).pathname] = process.argv.slice(2)
const verifier = readFileSync(new URL('../../examples/verify.js', import.meta.url), 'utf8')
writeFileSync(`${folder}/verify.js`, `${verifier}\nexport { assertAsked, keyOf, verifyProof }\n`)
