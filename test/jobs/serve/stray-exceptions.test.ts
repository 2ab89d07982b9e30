// Exceptions that are planted in callbacks of a real service: one of a call fails that call alone, and one of no
// call ends the process in good order.
import { expect, test } from 'vitest'
import { testFolder } from '../../support/folder.ts'
import { Client } from '../../support/http/service.ts'
import { fvsServe } from '../../support/process.ts'

const env = {
  NODE_OPTIONS: `--import=${new URL('../../support/planted-exceptions.ts', import.meta.url).href}`,
}

test('a service answers 500 where the callback of a call throws, and goes on', async () => {
  const folder = await testFolder()
  const { url, logged, kill, finished } = await fvsServe({ folder, env })
  const client = new Client(url)
  const read = () => client.get('/view/methodology', { 'Accept-Encoding': 'br' })
  const failed = await read()
  expect(failed.status).toBe(500)
  expect(failed.headers).toMatchObject({
    'content-type': 'application/problem+json',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  })
  expect(failed.headers['x-request-id']).toBeTruthy()
  expect(failed.text).not.toMatch(/planted|\.ts/)
  expect(await logged(/planted in a call/)).toContain('"level":50')
  expect((await client.get('/livez')).status).toBe(200)
  kill('SIGTERM')
  expect((await finished).code).toBe(0)
})

test('a service ends in good order where a callback of no call throws', async () => {
  const folder = await testFolder()
  const { url, kill, finished, logged } = await fvsServe({ folder, env })
  expect((await new Client(url).get('/livez')).status).toBe(200)
  kill('SIGUSR2')
  expect(await logged(/planted in no call/)).toContain('"level":60')
  const { code, stderr } = await finished
  expect(code).toBe(1)
  expect(stderr).toContain('"msg":"stopped"')
})
