// What deploy/ watches is what a node measures and what docs/run.md tells operators to watch.
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { REPOSITORY, textOf } from '../support/fenced-blocks.ts'
import { suiteFolder } from '../support/folder.ts'
import { startTestService } from '../support/http/service.ts'

const alerts = textOf('deploy/prometheus/fvs.rules.yaml')
const dashboard = textOf('deploy/grafana/fvs.json')
const documented = new Map(
  [...textOf('docs/run.md').matchAll(/^\| `(fvs_\w+)` +\| .* \| (.*) \|$/gm)].map(
    ([, name, alert]) => [name!, alert!.trim()] as const,
  ),
)

/** Names of metrics, of which a histogram has three suffixes. */
const NAMED = /\b((?:fvs|nodejs|process)_\w+?)(?:_bucket|_sum|_count)?\b(?=[{[\s),]|$)/gm
const namedIn = (text: string) => new Set([...text.matchAll(NAMED)].map(([, name]) => name!))

const folder = await suiteFolder()
let metrics: string
let measured: Set<string>
beforeAll(async () => {
  const { client, stop } = await startTestService({ folder })
  await client.get('/readyz')
  await client.get('/sandbox/readyz')
  await client.post(`/agents/${randomUUID()}/forecast`, {})
  metrics = (await client.get('/metrics')).text
  measured = new Set([...metrics.matchAll(/^# TYPE (\w+) /gm)].map(([, name]) => name!))
  await stop()
})

describe('every metric', () => {
  test('that an alert or a panel reads is measured', () => {
    for (const text of [alerts, dashboard]) {
      const named = namedIn(text)
      expect(named.size).toBeGreaterThan(10)
      expect([...named].filter((name) => !measured.has(name))).toEqual([])
    }
  })

  test('of the service is in the table of docs/run.md and on the dashboard', () => {
    const own = [...measured].filter((name) => name.startsWith('fvs_')).toSorted()
    expect([...documented.keys()].toSorted()).toEqual(own)
    const shown = namedIn(dashboard)
    expect(own.filter((name) => !shown.has(name))).toEqual([])
  })

  test('of which docs/run.md says when it is worth an alert has one, and no other has', () => {
    const worth = [...documented].filter(([, alert]) => alert !== '').map(([name]) => name)
    const watched = [...namedIn(alerts)].filter((name) => name.startsWith('fvs_'))
    expect(watched.toSorted()).toEqual(worth.toSorted())
  })
})

test('the routes that alerts and panels tell apart are those of the metrics', () => {
  const labels = new Set([...metrics.matchAll(/route="([^"]+)"/g)].map(([, route]) => route!))
  for (const route of ['/readyz', '/sandbox/readyz', '/agents/:agent_id/forecast'])
    expect(labels).toContain(route)
  const named = [...`${alerts}${dashboard}`.matchAll(/route(?:!~|=)\\?"([^"\\]+)\\?"/g)].map(
    ([, route]) => route!,
  )
  expect(named.length).toBeGreaterThan(2)
  for (const route of named)
    expect(
      [...labels].some((label) => new RegExp(`^${route}$`).test(label)),
      route,
    ).toBe(true)
})

test('every alert names a passage to read that exists', () => {
  const read = [...alerts.matchAll(/^ +read: ([^#\n]+)(?:#(.*))?$/gm)]
  expect(read.length).toBe(alerts.match(/- alert:/g)?.length)
  for (const [, file, anchor] of read) {
    const headings = readFileSync(join(REPOSITORY, file!), 'utf8').matchAll(/^#+ (.*)$/gm)
    const anchors = [...headings].map(([, heading]) =>
      heading!
        .toLowerCase()
        .replaceAll(/[^\w -]/g, '')
        .replaceAll(' ', '-'),
    )
    expect([undefined, ...anchors]).toContain(anchor)
  }
})
