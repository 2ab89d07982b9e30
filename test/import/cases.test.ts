// Imports as transcripts. A folder of `cases/` has files and `said.txt`: each command stands after `$`, and
// below it all that it says. `npx vitest run FILE -u` writes that anew.
import { readdirSync } from 'node:fs'
import { cp, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, expect, test } from 'vitest'
import { MemoryStore } from '../../pipeline/store/memory.ts'
import { suiteFolder } from '../support/folder.ts'
import { Clock, importRows, testComponents } from '../support/http/service.ts'
import { sample } from '../support/runs.ts'
import { copyOf } from '../support/store-content.ts'
import { NOW } from '../support/worlds/world.ts'
import { linesOf } from './transcript.ts'

const CASES = fileURLToPath(new URL('cases/', import.meta.url))
const SAID = 'said.txt'

const folder = await suiteFolder()
let prepared: MemoryStore

/** A store with two questions, the second as one whose id was the text q1. */
beforeAll(async () => {
  prepared = new MemoryStore()
  const components = await testComponents({ store: prepared, clock: new Clock(NOW), folder })
  await importRows(components, 'questions', await readFile(join(CASES, 'questions.csv'), 'utf8'))
})

async function checkCase(name: string): Promise<void> {
  const components = await testComponents({ store: copyOf(prepared), clock: new Clock(NOW), folder })
  await cp(join(CASES, name), components.directory, { recursive: true })
  const transcript = await readFile(join(CASES, name, SAID), 'utf8')
  const commands = transcript.split('\n').filter((line) => line.startsWith('$ '))
  expect(commands).not.toEqual([])
  const lines: string[] = []
  for (const command of commands) lines.push(command, ...(await linesOf(components, command.slice(2))))
  await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot(join(CASES, name, SAID))
}

const cases = readdirSync(CASES, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name)
// The files of a platform are an import of each kind.
const isOfPlatform = (name: string) => name.startsWith('from-')
test.for(sample(cases.filter((name) => !isOfPlatform(name))))('%s', checkCase)
test.for(cases.filter(isOfPlatform))('%s', { tags: ['slow'] }, checkCase)
