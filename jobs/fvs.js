#!/usr/bin/env node
// The command line, in plain JavaScript that an older Node can read too, so that it says which one is needed.
// What Node has compiled is kept beside the packages: half of what a short command does is to read and
// compile its modules.
import * as modules from 'node:module'
import { fileURLToPath } from 'node:url'

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
if (major < 22 || (major === 22 && minor < 18)) {
  process.stderr.write(
    `fvs: Node 22.18 or newer is needed, and this is ${process.version}; after \`npm ci\` the repository has one: run \`npx fvs\`\n`,
  )
  process.exitCode = 1
} else {
  // In a folder of our own: what lies there is run. Where it cannot be written, Node goes on without.
  modules.enableCompileCache(fileURLToPath(new URL('../node_modules/.cache/compiled', import.meta.url)))
  await import('./commands.ts')
}
