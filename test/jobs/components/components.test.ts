// What the components draw at random.
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { withComponents } from '../../../jobs/components/components.ts'
import { parseSettings } from '../../../schemas/config.ts'
import { testFolder } from '../../support/folder.ts'

/** A UUID of version 7 has 74 random bits (RFC 9562 §5.7); the library draws all but the first of them. */
const RANDOM_BITS = 73
const TIME_BITS = 48

test('ids of one millisecond have nothing in common but their time', async () => {
  const folder = await testFolder()
  const settings = parseSettings({
    STORE_URL: join(folder, 'store'),
    CACHE_DIR: join(folder, 'cache'),
    LOG_LEVEL: 'silent',
  })
  const ids = await withComponents(settings, 'production', 'begins', ({ newId }) =>
    Promise.resolve(Array.from({ length: 2000 }, () => bitsOf(newId()))),
  )
  const next = ids.slice(1).map((id, i) => [ids[i]!, id] as const)
  const together = next.filter(([id, after]) => id.slice(0, TIME_BITS) === after.slice(0, TIME_BITS))
  expect(together.length).toBeGreaterThan(1000)
  // How often each bit differs between an id and the next: half of the time if it is random.
  const differing = Array.from({ length: 128 - TIME_BITS }, (_, bit) => {
    const at = TIME_BITS + bit
    return together.filter(([id, after]) => id[at] !== after[at]).length / together.length
  })
  expect(differing.filter((share) => share > 0.35 && share < 0.65)).toHaveLength(RANDOM_BITS)
})

function bitsOf(id: string): string {
  return BigInt(`0x${id.replaceAll('-', '')}`)
    .toString(2)
    .padStart(128, '0')
}
