// No web page of another origin may read what a call with an operator's key answers.
import { expect } from 'vitest'
import { METHODOLOGY } from '../../../pipeline/scoring/methodology.ts'
import { allRoutes } from '../../../api/routes/all.ts'
import { test } from '../../support/http/fixtures.ts'
import { type TestService } from '../../support/http/service.ts'
import { uuidOf } from '../../support/worlds/world.ts'

const routes = allRoutes({ version: '1.0.0', methodology: METHODOLOGY, methodologyText: new Uint8Array() })
const paths = new Set(routes.filter(({ key }) => key === 'operator').map(({ path }) => path))

let service: TestService
test.beforeAll(async ({ components, serve }) => {
  service = await serve(components)
})

test.each([...paths])('no other page reads %s', async (path) => {
  const url = new URL(path.replaceAll(/\{\+?\w+\}/g, uuidOf(9, 9)), service.client.url)
  for (const method of ['GET', 'HEAD', 'OPTIONS']) {
    const headers = { Origin: 'https://other.example', 'Access-Control-Request-Method': 'GET' }
    const answer = await fetch(url, { method, headers })
    expect([method, answer.headers.get('Access-Control-Allow-Origin')]).toEqual([method, null])
  }
})
