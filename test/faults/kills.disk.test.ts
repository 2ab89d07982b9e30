// Kills of real processes under load, on a disk: nothing that was acknowledged is lost, doubled or changed.
import { describe, test } from 'vitest'
import { expectKept } from './kills.ts'
import { onDisk } from '../support/worlds/places.ts'
import { choicesOf, faultSeed, storms } from '../support/faults/seeded.ts'

const SEED = faultSeed()
/** With those of kills.s3.test.ts there are 200. */
const KILLS = 30

describe(`kills on disk, FAULT_SEED=${SEED}`, () => {
  test.for(storms([1, 2, 3, 4]))('storm %d', async (stream) => {
    await expectKept('kills on disk', await onDisk(), choicesOf(SEED, stream), KILLS)
  })
})
