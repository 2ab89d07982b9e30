// No web page of another origin may read what a call with an operator's key answers.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { METHODOLOGY } from '../../../pipeline/scoring/methodology.ts'
import { MemoryStore } from '../../../pipeline/store/memory.ts'
import { allRoutes } from '../../../api/routes/all.ts'
import { suiteFolder } from '../../support/folder.ts'
import { Clock, type TestService, startTestService, testComponents } from '../../support/http/service.ts'
import { NOW, uuidOf } from '../../support/worlds/world.ts'

const folder = await suiteFolder()
const routes = allRoutes({ version: '1.0.0', methodology: METHODOLOGY, methodologyText: new Uint8Array() })
const paths = new Set(routes.filter(({ key }) => key === 'operator').map(({ path }) => path))

let service: TestService
beforeAll(async () => {
  const clock = new Clock(NOW)
  service = await startTestService(await testComponents({ store: new MemoryStore(), folder, clock }))
})
afterAll(() => service.stop())

test.each([...paths])('no other page reads %s', async (path) => {
  const url = new URL(path.replaceAll(/\{\+?\w+\}/g, uuidOf(9, 9)), service.client.url)
  for (const method of ['GET', 'HEAD', 'OPTIONS']) {
    const headers = { Origin: 'https://other.example', 'Access-Control-Request-Method': 'GET' }
    const answer = await fetch(url, { method, headers })
    expect([method, answer.headers.get('Access-Control-Allow-Origin')]).toEqual([method, null])
  }
})
