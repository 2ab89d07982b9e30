#!/usr/bin/env node
// The command line, in plain JavaScript, because before anything else runs Node would load its parser of TypeScript. What Node has compiled is kept beside the packages, so that the next command starts in a third of the time: half
// of what a short command does is to read and compile its modules.
import { enableCompileCache } from 'node:module'
import { fileURLToPath } from 'node:url'

// In a folder of our own: what lies there is run. Where it cannot be written, Node goes on without.
enableCompileCache(fileURLToPath(new URL('../node_modules/.cache/compiled', import.meta.url)))
await import('./commands.ts')
