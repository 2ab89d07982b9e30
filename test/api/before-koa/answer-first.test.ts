// A defect of the service in what it does before Koa harms one caller, and nobody else.
import { pino } from 'pino'
import { expect, onTestFinished, test } from 'vitest'
import { MemoryStore } from '../../../pipeline/store/memory.ts'
import { BULK, FOUND } from '../../support/counted-calls.ts'
import { startTestService, testComponents } from '../../support/service.ts'
import { copyReleasedWorld } from '../../support/world.ts'

test.for([
  ['a prepared answer', 'GET', FOUND],
  ['a direct call', 'POST', BULK],
] as const)('%s that fails is cut off and noted, and the next one is answered', async ([, method, path]) => {
  const store = new MemoryStore()
  await copyReleasedWorld(store)
  const components = await testComponents({ store })
  const noted: string[] = []
  let isBroken = false
  const newRequestId = () => {
    if (isBroken) throw new Error('no ids are left')
    return components.newRequestId()
  }
  const logger = pino({ level: 'error' }, { write: (line) => noted.push(line) })
  const service = await startTestService({ ...components, newRequestId, logger })
  onTestFinished(() => service.stop())
  const body = method === 'POST' ? '{"entity_type":"agent","ids":[]}' : undefined
  const ask = () =>
    service.client.send(method, path, { headers: { 'Content-Type': 'application/json' }, body })
  const { status } = await ask()
  isBroken = true
  await expect(ask()).rejects.toThrow('socket hang up')
  expect(noted).toHaveLength(1)
  expect(noted[0]).toContain('a request was left without an answer')
  isBroken = false
  expect(await ask()).toMatchObject({ status })
})
