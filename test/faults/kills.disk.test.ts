// Kills of real processes under load, on a disk: nothing that was acknowledged is lost, doubled or changed.
import { describe, test } from 'vitest'
import { expectKept } from '../support/kills.ts'
import { onDisk } from '../support/places.ts'
import { choicesOf, faultSeed } from '../support/seeded.ts'

const SEED = faultSeed()
/** With those of kills.s3.test.ts there are 200. */
const KILLS = 30

describe(`kills on disk, FAULT_SEED=${SEED}`, () => {
  test.for([1, 2, 3, 4])('storm %d', async (stream) => {
    await expectKept('kills on disk', await onDisk(), choicesOf(SEED, stream), KILLS)
  })
})
