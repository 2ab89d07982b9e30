// A run without the secret or the key of the log that the last release was made with goes no further.
import { beforeAll, describe, expect, test } from 'vitest'
import { runRelease } from '../../../jobs/release/release.ts'
import {
  assertSecretOf,
  assertSigningAsBefore,
  checkSigningOfNode,
} from '../../../jobs/release/signing-as-before.ts'
import { signingKeyText } from '../../../pipeline/proof/note-keys.ts'
import { MemoryStore } from '../../../pipeline/store/memory.ts'
import { planPath } from '../../../pipeline/store/paths.ts'
import { suiteFolder } from '../../support/folder.ts'
import { Clock, OTHER_SECRET, SECRET, testComponents } from '../../support/http/service.ts'
import { contentOf, copyOf } from '../../support/store-content.ts'
import { copyReleasedWorld } from '../../support/worlds/world.ts'

const THIRD_SECRET = 'a third secret of the tests, as long as that'
const LOG_KEY = signingKeyText('log.example/test', 'log', new Uint8Array(32).fill(7))

const folder = await suiteFolder()
/** One release, signed with SECRET. */
const signed = new MemoryStore()
beforeAll(() => copyReleasedWorld(signed))

interface Keys {
  current?: string
  previous?: string
  log?: string
}

const withKeys = (store: MemoryStore, { current = '', previous = '', log = '' }: Keys) =>
  testComponents({
    store,
    folder,
    clock: new Clock('2026-03-02T12:00:00.000Z'),
    settings: {
      VERIFICATION_SIGNING_SECRET: current,
      VERIFICATION_SIGNING_SECRET_PREVIOUS: previous,
      LOG_SIGNING_KEY: log,
    },
  })

async function releasedWith(keys: Keys): Promise<MemoryStore> {
  const store = copyOf(signed)
  await runRelease(await withKeys(store, keys), {})
  return store
}

async function faultOf(store: MemoryStore, keys: Keys): Promise<string | undefined> {
  try {
    await assertSigningAsBefore(await withKeys(store, keys))
    return undefined
  } catch (error) {
    expect(error).toMatchObject({ kind: 'conflict' })
    return (error as Error).message
  }
}

describe('after a release that is signed', () => {
  test('a run without any secret is refused, and nothing is written', async () => {
    const store = copyOf(signed)
    const before = await contentOf(store)
    expect(await faultOf(store, {})).toBe(
      'release 1 is signed, and VERIFICATION_SIGNING_SECRET is not set; set it, or say --unsigned to go on without it',
    )
    await expect(assertSecretOf(await withKeys(store, {}), undefined)).rejects.toThrow(
      /^release 1 is signed, /,
    )
    expect(await contentOf(store)).toEqual(before)
  })

  test('one with another secret is refused, which neither message nor log shows', async () => {
    const fault = await faultOf(signed, { current: OTHER_SECRET })
    expect(fault).toMatch(/^release 1 is signed with another secret than VERIFICATION_SIGNING_SECRET; /)
    expect(fault).not.toContain(OTHER_SECRET)
  })

  test('one with the secret is not, at every step of a rotation', { tags: ['slow'] }, async () => {
    expect(await faultOf(signed, { current: SECRET })).toBeUndefined()
    expect(await faultOf(signed, { current: OTHER_SECRET, previous: SECRET })).toBeUndefined()
    const rotating = await releasedWith({ current: OTHER_SECRET, previous: SECRET })
    expect(await faultOf(rotating, { current: OTHER_SECRET })).toBeUndefined()
    expect(await faultOf(rotating, { current: THIRD_SECRET, previous: OTHER_SECRET })).toBeUndefined()
    expect(await faultOf(rotating, { current: THIRD_SECRET })).toMatch(/^release 2 is signed with another/)
  })

  test('one with a damaged plan is not stopped by it: the audit names that', async () => {
    const store = copyOf(signed)
    store.objects.set(planPath(1), Buffer.from('{}'))
    expect(await faultOf(store, {})).toBeUndefined()
  })
})

test(
  'after a release that is unsigned, nothing is missing, and one with a secret signs again',
  { tags: ['slow'] },
  async () => {
    const unsigned = await releasedWith({})
    expect(await faultOf(unsigned, {})).toBeUndefined()
    expect(await faultOf(unsigned, { current: SECRET })).toBeUndefined()
    expect(await faultOf(new MemoryStore(), {})).toBeUndefined()
  },
)

test(
  'after a release in the log, one without its key is refused; after a release that left it out, none',
  { tags: ['slow'] },
  async () => {
    const logged = await releasedWith({ current: SECRET, log: LOG_KEY })
    expect(await faultOf(logged, { current: SECRET, log: LOG_KEY })).toBeUndefined()
    expect(await faultOf(logged, { current: SECRET })).toBe(
      'release 2 is in the public log, and LOG_SIGNING_KEY is not set; set it, or say --unsigned to go on without it',
    )
    await runRelease(await withKeys(logged, { current: SECRET }), {})
    expect(await faultOf(logged, { current: SECRET })).toBeUndefined()
  },
)

test('a node that makes releases does not start without it, and one that only serves says so in its log', async () => {
  const warned: string[] = []
  const components = await withKeys(signed, {})
  const logger = { warn: (_fields: object, text: string) => warned.push(text) } as never
  await expect(checkSigningOfNode({ ...components, logger }, true)).rejects.toThrow(
    /or run fvs release --unsigned once to go on without it; --no-scheduler serves and makes no releases$/,
  )
  expect(warned).toEqual([])
  await checkSigningOfNode({ ...components, logger }, false)
  expect(warned).toEqual([expect.stringMatching(/^this node only serves, and release 1 is signed, /)])
})
