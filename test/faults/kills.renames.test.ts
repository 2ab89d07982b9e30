// Kills of a node that makes releases of its own, each of which goes on as a process without a parent, while an
// agent gives itself one name after another: the last name that was acknowledged is the one that is shown.
import { setTimeout as pause } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { withDatabase } from '../../pipeline/duckdb.ts'
import { readAgents } from '../../pipeline/import/agent-list.ts'
import { choicesOf, faultSeed, report } from '../support/faults/seeded.ts'
import { importBatch, releaseNow } from '../support/faults/trouble.ts'
import { Client, bearer, registerAgent, testComponents } from '../support/http/service.ts'
import { startFvs } from '../support/process.ts'
import { onDisk } from '../support/worlds/places.ts'

const ROUNDS = 6
const SEED = faultSeed()

test(`an agent that renames itself, FAULT_SEED=${SEED}`, async () => {
  const { whole } = choicesOf(SEED, 11)
  const { store, options: own } = await onDisk()
  const env = { ...own.env, REFRESH_MS: '200', RELEASE_SCHEDULE: '* * * * * *' }
  const options = { folder: own.folder, env }
  await importBatch(options, 0)
  const start = async () => {
    const running = startFvs(['serve'], options)
    const line = await running.logged(/^\{.*"msg":"serving"\}$/)
    return { running, client: new Client((JSON.parse(line) as { url: string }).url) }
  }
  const components = await testComponents({ store, folder: own.folder })
  const shown = () =>
    withDatabase(components.openDatabase, async (database) => {
      const [agent] = await readAgents({ ...components, database }, undefined)
      return agent!.name
    })

  let node = await start()
  const { agentId, key } = await registerAgent(node.client)
  const wrong: string[] = []
  let acknowledged = 0
  let last = ''
  for (let round = 0; round < ROUNDS; round++) {
    const killing = pause(whole(200, 2500)).then(() => node.running.child.kill('SIGKILL'))
    // Names that nobody acknowledged may be shown too.
    const possible: string[] = []
    for (let n = 0; ; n++) {
      const name = `name ${round}-${n}`
      possible.push(name)
      const path = `/agents/${agentId}`
      const answer = await node.client
        .send('PATCH', path, {
          headers: { ...bearer(key), 'Content-Type': 'application/json' },
          body: JSON.stringify({ name }),
        })
        .catch(() => undefined)
      if (!answer) break
      if (answer.status === 200) {
        acknowledged += 1
        last = name
        possible.length = 0
      } else possible.pop()
      await pause(whole(20, 200))
    }
    await killing
    await node.running.finished
    node = await start()
    await releaseNow(options)
    const is = await shown()
    if (![last, ...possible].includes(is)) wrong.push(`${is} instead of ${[last, ...possible].join(' or ')}`)
    last = is
  }
  node.running.child.kill('SIGKILL')
  await node.running.finished
  report('kills and renames', SEED, { kills: ROUNDS, acknowledged, wrong: wrong.length })
  expect(wrong).toEqual([])
})
