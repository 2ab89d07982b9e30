// The lint rule `house/arrows`, with the arrows of oxlint.config.ts: which imports it refuses, and that none
// runs back up.
import { RuleTester } from 'oxlint/plugins-dev'
import { describe, expect, test } from 'vitest'
import config, { room } from '../oxlint.config.ts'

type Rule = Parameters<RuleTester['run']>[1]

const PLUGIN = new URL('../.oxlint/house.js', import.meta.url)
const { default: house } = (await import(PLUGIN.href)) as { default: { rules: { arrows: Rule } } }
const [, options] = (config.rules ?? {})['house/arrows'] as ['error', { arrows: Record<string, string[]> }]

RuleTester.describe = describe
RuleTester.it = test
const tester = new RuleTester({ languageOptions: { sourceType: 'module' } })

/** A line of code in a file of the project. */
const inFile = (path: string, code: string) => ({
  name: `${path}: ${code}`,
  filename: new URL(`../${path}`, import.meta.url).pathname,
  code,
  options: [options] as never,
})
const refused = (path: string, code: string, message: RegExp) => ({
  ...inFile(path, code),
  errors: [{ message }],
})

const SCORING = 'pipeline/scoring/round.ts'
const STORE = 'pipeline/store/file.ts'
const UP_FROM_STORE = /^pipeline\/store may not import pipeline\/release: /
const NO_PACKAGE = /^pipeline\/scoring may import no package but: none$/

tester.run('house/arrows', house.rules.arrows, {
  valid: [
    inFile(STORE, `import { sha256Hex } from '../proof/canonical.ts'`),
    inFile(STORE, `import { isPath } from './paths.ts'`),
    inFile(STORE, `import { readFile } from 'node:fs/promises'`),
    inFile(STORE, `export { isPath } from './paths.ts'`),
    inFile('schemas/values.ts', `import { z } from 'zod'`),
    inFile('schemas/generate.ts', `import { writeFile } from 'node:fs/promises'`),
    inFile('pipeline/store/s3.ts', `import { S3Client } from '@aws-sdk/client-s3'`),
    inFile('pipeline/duckdb.ts', `import bindings from '@duckdb/node-bindings'`),
    inFile('api/limits/redis-counters.ts', `import { RateLimiterRedis } from 'rate-limiter-flexible'`),
    inFile('jobs/commands.ts', `await import('./serve/serve.ts')`),
    inFile('jobs/serve/serve.ts', `import process from 'node:process'`),
  ],
  invalid: [
    refused(STORE, `import { makeRelease } from '../release/make.ts'`, UP_FROM_STORE),
    refused(STORE, `import type { Plan } from '../release/plan.ts'`, UP_FROM_STORE),
    refused(STORE, `await import('../release/make.ts')`, UP_FROM_STORE),
    refused(STORE, `export { makeRelease } from '../release/make.ts'`, UP_FROM_STORE),
    refused(STORE, `export * from '../release/make.ts'`, UP_FROM_STORE),
    refused(
      'api/http/app.ts',
      `import '../../jobs/serve/serve.ts'`,
      /^api\/http may not import jobs\/serve: /,
    ),
    refused(
      'jobs/commands.ts',
      `import '../test/support/worlds/world.ts'`,
      /^jobs\/\* may not import test: /,
    ),
    refused('api/pages/layout.ts', `import '../http/route.ts'`, /^api\/pages may not import api\/http: /),
    refused(
      'jobs/serve/service.ts',
      `import '../sandbox/seed.ts'`,
      /^jobs\/serve may not import jobs\/sandbox: /,
    ),
    refused(
      'jobs/release/release.ts',
      `import '../../pipeline/audit/log.ts'`,
      /may not import pipeline\/audit: /,
    ),
    refused('pipeline/stray.ts', `export {}`, /^pipeline\/stray.ts is in no room: /),
    refused(STORE, `import '../stray.ts'`, /^pipeline\/store may not import ..\/stray.ts: /),
    refused(SCORING, `import { readFile } from 'node:fs/promises'`, NO_PACKAGE),
    refused(SCORING, `await import('zod')`, NO_PACKAGE),
    refused('schemas/values.ts', `import pMap from 'p-map'`, /^schemas may import no package but: zod$/),
    refused(STORE, `import '@aws-sdk/client-s3'`, /^only pipeline\/store\/s3.ts knows @aws-sdk$/),
    refused(STORE, `export * from '@duckdb/node-api'`, /^only pipeline\/duckdb.ts knows @duckdb$/),
    refused(
      'api/limits/admission.ts',
      `import type { RateLimiterRes } from 'rate-limiter-flexible'`,
      /^only api\/limits\/redis-counters.ts knows rate-limiter-flexible$/,
    ),
    refused('api/http/app.ts', `import process from 'node:process'`, /^only jobs knows node:process$/),
  ],
})

describe('the arrows between rooms', () => {
  test('lead to rooms that stand above in the list, so that none runs in a circle', () => {
    const rooms = Object.keys(options.arrows)
    expect(rooms.length).toBeGreaterThan(10)
    for (const [index, name] of rooms.entries()) {
      expect(rooms.slice(0, index), name).toEqual(expect.arrayContaining(options.arrows[name]!))
    }
  })

  test('are refused where they run back up', () => {
    expect(() => {
      room('a room below', 'a room that comes later')
    }).toThrow('a room below imports a room that comes later from above')
  })
})
