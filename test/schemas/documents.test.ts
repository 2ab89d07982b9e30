// The generated tables in the documentation are up to date.
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { settings } from '../../schemas/config.ts'
import { GENERATED, withGenerated } from '../../schemas/documents.ts'

const textOf = (page: string) => readFileSync(new URL(`../../${page}`, import.meta.url), 'utf8')

test.for(Object.entries(GENERATED))('%s has the tables that `npm run schemas` writes', ([page, parts]) => {
  expect(withGenerated(textOf(page), parts)).toBe(textOf(page))
})

describe('the settings in the documentation', () => {
  const written = GENERATED['docs/settings.md']!['settings']!

  test.for(Object.entries(settings.shape))('%s is described', ([, schema]) => {
    expect(schema.description).toMatch(/^[^|\n]{10,}[^.\n]$/)
  })

  test('have their default and their range', () => {
    expect(written).toMatch(/^\| `PORT` +\| `3000` +\| 0 to 65,535 +\| the port to listen on; /m)
    expect(written).toMatch(/^\| `REDIS_URL` +\| none +\| +\| /m)
    expect(written).toMatch(/^\| `LOG_LEVEL` +\| `info` +\| `trace`, `debug`, .* +\| /m)
  })

  test('have the defaults of the sandbox where they differ', () => {
    const rows = [...written.matchAll(/^\| `SANDBOX_(\w+)` +\| `(.*?)` +\|$/gm)]
    expect(rows.map(([, name, value]) => [name, value])).toEqual([
      ['RELEASE_SCHEDULE', '* * * * *'],
      ['PUBLIC_DATA', 'tables'],
      ['ANONYMOUS_PER_MONTH', '1000'],
      ['FREE_MONTHLY_CALLS', '1000'],
      ['PRO_MONTHLY_CALLS', '50000'],
    ])
  })
})

describe('withGenerated', () => {
  const page = 'a\n<!-- x: written by npm run schemas -->\nold\n<!-- end of x -->\nz\n'

  test('replaces the text between the marks, and nothing else', () => {
    const once = withGenerated(page, { x: 'new\n' })
    expect(once).toBe('a\n<!-- x: written by npm run schemas -->\n\nnew\n\n<!-- end of x -->\nz\n')
    expect(withGenerated(once, { x: 'new\n' })).toBe(once)
  })

  test('refuses a page without the marks', () => {
    expect(() => withGenerated(page, { y: '' })).toThrow('the page has no <!-- y')
    expect(() => withGenerated(page.replace('end of x', 'end'), { x: '' })).toThrow('the page has no')
  })
})
