// What a node holds of rendered answers, and what it renders of the next release before it goes over.
import { describe, expect, test } from 'vitest'
import { RenderedAnswers } from '../../../api/published/rendered.ts'
import type { Release } from '../../../api/published/release-payloads.ts'
import { WorkBeside } from '../../../api/published/work-beside.ts'
import type { ReleaseManifest } from '../../../schemas/manifests.ts'

const monotonicMs = () => performance.now()

function releaseOf(number: number, earlierThan?: Release): Release {
  return { manifest: { release: number } as ReleaseManifest, earlierThan } as Release
}

const [FIRST, SECOND] = [releaseOf(1), releaseOf(2)]

/** Answers that say of which release they are, and the URLs of which they were rendered. */
function world() {
  const people = { version: 1 }
  const answers = new RenderedAnswers(people)
  const rendered: string[] = []
  const paid: string[] = []
  const renderingOf = (url: string, release: Release, state?: string) => ({
    ...(state !== undefined && { state }),
    count: async () => void (await Promise.resolve(paid.push(url))),
    render: async () => {
      rendered.push(`${release.manifest!.release} ${url}`)
      return Promise.resolve(Buffer.from(`${release.manifest!.release} ${url} ${state ?? ''}`))
    },
  })
  const get = async (release: Release, url: string, state?: string) => {
    const again = (next: Release) => renderingOf(url, next, state)
    return String(await answers.get(release, url, renderingOf(url, release, state), again))
  }
  const warm = (next: Release, limitMs = 10_000) =>
    answers.warm({ manifest: next.manifest!, payloads: next }, new WorkBeside(monotonicMs, limitMs))
  return {
    answers,
    people,
    get,
    warm,
    paid: () => paid.splice(0),
    rendered: () => rendered.splice(0),
  }
}

describe('an answer', () => {
  test('is rendered once for all who ask, also at the same time', async () => {
    const { get, rendered } = world()
    const asked = await Promise.all([get(FIRST, '/a'), get(FIRST, '/a')])
    expect([...asked, await get(FIRST, '/a')]).toEqual(Array.from({ length: 3 }, () => '1 /a '))
    expect(rendered()).toEqual(['1 /a'])
  })

  test('is rendered for each release, and for the same release seen as an earlier one', async () => {
    const { get, rendered } = world()
    for (const release of [FIRST, SECOND, releaseOf(1, SECOND), releaseOf(1, releaseOf(3))]) {
      await get(release, '/a')
    }
    expect(rendered()).toEqual(['1 /a', '2 /a', '1 /a', '1 /a'])
  })

  test('is rendered again when its state or a name has changed', async () => {
    const { get, people, rendered } = world()
    await get(FIRST, '/a', 'before')
    expect(await get(FIRST, '/a', 'after')).toBe('1 /a after')
    people.version = 2
    await get(FIRST, '/a', 'after')
    expect(rendered()).toHaveLength(3)
  })

  test('is paid for by those who ask while it is not in memory', async () => {
    const { get, warm, paid } = world()
    await get(FIRST, '/a')
    expect(paid()).toEqual(['/a'])
    await get(FIRST, '/a')
    await warm(SECOND)
    await get(SECOND, '/a')
    expect(paid()).toEqual([])
  })
})

describe('the next release', () => {
  test('has what callers asked of the one before, the latest first', async () => {
    const { get, warm, rendered } = world()
    for (const url of ['/a', '/b', '/a']) await get(FIRST, url)
    rendered()
    await warm(SECOND)
    expect(rendered()).toEqual(['2 /a', '2 /b'])
    expect(await get(SECOND, '/b')).toBe('2 /b ')
    expect(rendered()).toEqual([])
  })

  test('has nothing that nobody asked for since the switch before', async () => {
    const { get, warm, rendered } = world()
    for (const url of ['/a', '/b']) await get(FIRST, url)
    await warm(SECOND)
    await get(SECOND, '/b')
    rendered()
    await warm(releaseOf(3))
    expect(rendered()).toEqual(['3 /b'])
  })

  test('has no answer that fails, nor one that waits until somebody asks', async () => {
    const { answers, get, warm, rendered } = world()
    await get(FIRST, '/a')
    const render = () => Buffer.from('as it is')
    await answers.get(FIRST, '/fails', { render }, () => Promise.reject(new Error('not there')))
    await answers.get(FIRST, '/waits', { render }, () => undefined)
    await answers.get(undefined, '/fixed', { render })
    rendered()
    await warm(SECOND)
    expect(rendered()).toEqual(['2 /a'])
  })

  test('has nothing more once the time is over', async () => {
    const { get, warm, rendered } = world()
    await get(FIRST, '/a')
    rendered()
    await warm(SECOND, 0)
    expect(rendered()).toEqual([])
  })
})
