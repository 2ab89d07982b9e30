#!/usr/bin/env -S node --
// The command line, in plain JavaScript that an older Node can read too, so that it says which one is needed.
// The -- leaves --env-file to us: Node would take it for its own, and end by itself if the file is missing.
// Node keeps compiled modules next to the packages, because a short command spends half its time on reading
// and compiling its modules.
import * as modules from 'node:module'
import { fileURLToPath } from 'node:url'

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
if (major < 22 || (major === 22 && minor < 18)) {
  process.stderr.write(
    `fvs: Node 22.18 or newer is needed, and this is ${process.version}; after \`npm ci\` the repository has one: run \`npx fvs\`\n`,
  )
  process.exitCode = 1
} else {
  // The folder is our own, because Node runs the code that it finds there. If it cannot write there, Node
  // goes on without.
  modules.enableCompileCache(fileURLToPath(new URL('../node_modules/.cache/compiled', import.meta.url)))
  const { runCommandLine } = await import('./commands.ts')
  await runCommandLine(process.argv.slice(2))
}
