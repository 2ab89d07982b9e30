// What the scheduler says of a release that it could not start.
import { pino } from 'pino'
import { expect, onTestFinished, test } from 'vitest'
import { Scheduler } from '../../../jobs/serve/scheduler.ts'

test('a release that cannot be started is an error in the log, and does not keep the scheduler from stopping', async () => {
  const { execPath } = process
  process.execPath = '/no/such/program'
  onTestFinished(() => {
    process.execPath = execPath
  })
  const logged = Promise.withResolvers<string>()
  const logger = pino({ level: 'error' }, { write: logged.resolve })
  const scheduler = new Scheduler('sandbox', '* * * * * *', true, logger)
  expect(JSON.parse(await logged.promise)).toMatchObject({
    level: 50,
    environment: 'sandbox',
    err: { code: 'ENOENT' },
    msg: expect.stringContaining('did not start') as unknown,
  })
  await scheduler.stop()
})
