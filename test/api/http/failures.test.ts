// A defect of the service in what it does for every call harms one caller, and nobody else.
import { pino } from 'pino'
import { expect, onTestFinished, test } from 'vitest'
import { MemoryStore } from '../../../pipeline/store/memory.ts'
import { BULK, FOUND } from '../../support/http/counted-calls.ts'
import { expectProblem } from '../../support/http/problem.ts'
import { startTestService, testComponents } from '../../support/http/service.ts'
import { copyReleasedWorld } from '../../support/worlds/world.ts'

test.for([
  ['a read that fails', 'GET', FOUND, 'ids'],
  ['a call with a body that fails', 'POST', BULK, 'ids'],
  ['a read that cannot be logged', 'GET', FOUND, 'lines of the log'],
  ['a call with a body that cannot be logged', 'POST', BULK, 'lines of the log'],
] as const)(
  '%s is noted, and answered if that can be, and so is the next one',
  async ([, method, path, broken]) => {
    const store = new MemoryStore()
    await copyReleasedWorld(store)
    const components = await testComponents({ store })
    const noted: string[] = []
    let isBroken = false
    const unlessBroken = (part: string) => {
      if (isBroken && part === broken) throw new Error(`no ${part} are left`)
    }
    const newRequestId = () => {
      unlessBroken('ids')
      return components.newRequestId()
    }
    const logger = pino({ level: 'error' }, { write: (line) => noted.push(line) })
    logger.debug = () => unlessBroken('lines of the log')
    const service = await startTestService({ ...components, newRequestId, logger })
    onTestFinished(() => service.stop())
    const body = method === 'POST' ? '{"entity_type":"agent","ids":[]}' : undefined
    const ask = () =>
      service.client.send(method, path, { headers: { 'Content-Type': 'application/json' }, body })
    const { status } = await ask()
    isBroken = true
    if (broken === 'ids') await expect(ask()).rejects.toThrow('socket hang up')
    else expectProblem(await ask(), 500, /./)
    expect(noted).toHaveLength(1)
    expect(noted[0]).toContain(`no ${broken} are left`)
    isBroken = false
    expect(await ask()).toMatchObject({ status })
  },
)
