// A small part of the suite of faults (test/faults), the same each time.
import { describe, test } from 'vitest'
import { expectKept } from './support/kills.ts'
import { onDisk } from './support/places.ts'
import { choicesOf } from './support/seeded.ts'

const SEED = 2026

describe('a slice of the faults', () => {
  test('kills on disk', { timeout: 120_000 }, async () => {
    await expectKept('kills on disk', await onDisk(), choicesOf(SEED), 4)
  })
})
