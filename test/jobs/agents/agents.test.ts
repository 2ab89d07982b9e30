// `fvs agents` as an operator uses it: what it prints, how it refuses, and what the options mean.
import { join } from 'node:path'
import pMap from 'p-map'
import { describe, expect, test } from 'vitest'
import { assignAgents, listAgents, retireAgents } from '../../../jobs/agents/agents.ts'
import { encodeRows } from '../../../pipeline/tables/inbox.ts'
import { contentOf } from '../../support/store-content.ts'
import { sendBytes } from '../../support/tables.ts'
import { testFolder } from '../../support/folder.ts'
import { type Finished, fvs } from '../../support/process.ts'
import { Clock, testComponents } from '../../support/http/service.ts'
import { NOW, uuidOf } from '../../support/worlds/world.ts'

const id = (number: number) => uuidOf(7, number)
const at = (second: number) => new Date(Date.parse(NOW) + second * 1000)

/**
 * A store in a folder in which agents, numbered from 0, have registered a second apart, the first one last.
 */
async function worldOf(count: number) {
  const folder = await testFolder()
  const clock = new Clock(at(3600).toISOString())
  const components = await testComponents({ folder, clock })
  const rows = Array.from({ length: count }, (_, number) => ({
    agent_id: id(number),
    name: `agent ${number}`,
    model_type: 'm',
    organization_name: null,
    owner_id: null,
    registered_at: at(count - number),
    retired_at: null,
    recorded_at: at(count - number),
  }))
  await sendBytes(components.store, 'agents', uuidOf(8, 1), encodeRows('agents', rows))
  const run = (...args: string[]) =>
    fvs(['agents', ...args], { folder, env: { STORE_URL: join(folder, 'store') } })
  return { folder, components, clock, run }
}

const jsonOf = ({ code, stdout, stderr }: Finished) => {
  expect(code, stderr).toBe(0)
  return JSON.parse(stdout) as unknown
}

describe('fvs agents', () => {
  test('assigns, lists and retires agents', async () => {
    const { run } = await worldOf(3)
    const agent = (number: number, owner_id: string | null, retired_at: unknown = null) => ({
      agent_id: id(number),
      name: `agent ${number}`,
      owner_id,
      registered_at: at(3 - number).toISOString(),
      retired_at,
    })
    expect(jsonOf(await run('list', '--json'))).toEqual({
      agents: [agent(2, null), agent(1, null), agent(0, null)],
    })
    expect(jsonOf(await run('assign', id(0), id(2), '--owner', 'Lo\u0308bel  & Co ', '--json'))).toEqual({
      owner_id: 'Löbel & Co',
      agents: 2,
      changed: 2,
      unchanged: 0,
    })
    const corrected = await run('assign', id(2), id(1).toUpperCase(), id(2), '--no-owner')
    expect(corrected.stdout).toBe('changed: 1 of 2 agents; already without an owner: 1\n')
    expect(jsonOf(await run('retire', id(0), '--json'))).toEqual({ agents: 1, changed: 1, unchanged: 0 })
    const [own, none, plain] = await Promise.all([
      run('list', '--owner', 'Löbel & Co', '--json'),
      run('list', '--no-owner', '--json'),
      run('list'),
    ])
    const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]{12}Z$/) as string
    expect(jsonOf(own)).toEqual({ agents: [agent(0, 'Löbel & Co', time)] })
    expect(jsonOf(none)).toEqual({ agents: [agent(2, null), agent(1, null)] })
    expect(plain.stdout.replace(/retired \S+Z/, 'retired <time>')).toBe(
      `${id(2)}  ${at(1).toISOString()}  not retired  no owner  agent 2\n` +
        `${id(1)}  ${at(2).toISOString()}  not retired  no owner  agent 1\n` +
        `${id(0)}  ${at(3).toISOString()}  retired <time>  owner Löbel & Co  agent 0\n`,
    )
  })

  test('refuses what it cannot do, and writes nothing then', async () => {
    const { run, components } = await worldOf(1)
    const before = await contentOf(components.store)
    const wrong: [args: string[], code: number, message: RegExp][] = [
      [['assign', id(0)], 2, /required option '--owner <name>' not specified/],
      [['assign', '--owner', 'Ada'], 2, /missing required argument 'agent_id'/],
      [['assign', id(0), '--owner', ''], 1, /^fvs: --owner is ""; it must not be empty$/m],
      [['assign', id(0), '--owner', '\u3164'], 1, /must not have the character U\+3164/],
      [['assign', id(0), '--owner', 'x'.repeat(201)], 1, /must have at most 200 characters/],
      [['list', '--owner', '!'], 1, /it must have at least one letter or digit/],
      [['retire'], 2, /missing required argument 'agent_id'/],
      [['retire', id(0), '--owner', 'Ada'], 2, /unknown option '--owner'/],
      [['assign', id(0), '--owner', 'Ada', '--environment', 'sandbox'], 1, /there is no store in /],
    ]
    const refused = await pMap(wrong, ([args]) => run(...args), { concurrency: 4 })
    for (const [index, [args, code, message]] of wrong.entries()) {
      expect(refused[index]!.stderr, args.join(' ')).toMatch(message)
      expect([refused[index]!.code, refused[index]!.stdout]).toEqual([code, ''])
    }
    expect(await contentOf(components.store)).toEqual(before)
  })

  test('names an unknown agent, in JSON too', async () => {
    const { run } = await worldOf(1)
    const { code, stdout } = await run('retire', id(0), id(5), '--json')
    expect(code).toBe(1)
    expect(JSON.parse(stdout)).toEqual({
      error: {
        kind: 'notFound',
        message: `no agent is registered by the id "${id(5)}"; nothing was written`,
        errors: [],
      },
    })
    expect(jsonOf(await run('list', '--json'))).toMatchObject({ agents: [{ retired_at: null }] })
  })
})

test('a list of no agents says so, and one of many is read without writing anything', async () => {
  expect(await listAgents(await testComponents(), {})).toMatchObject({
    json: { agents: [] },
    text: 'no agents',
  })
  const { components } = await worldOf(2000)
  await assignAgents(components, [id(3)], { owner: 'Ada' })
  await retireAgents(components, [id(3)])
  const before = await contentOf(components.store)
  const { json, text } = await listAgents(components, {})
  expect((json as { agents: object[] }).agents).toHaveLength(2000)
  expect(text.split('\n')).toHaveLength(2000)
  expect(await listAgents(components, { owner: 'Ada' })).toMatchObject({
    json: { agents: [{ agent_id: id(3), owner_id: 'Ada' }] },
  })
  expect(await listAgents(components, { owner: 'ada' })).toMatchObject({ json: { agents: [] } })
  expect(await contentOf(components.store)).toEqual(before)
})
