// Kills of real processes under load, on a real S3 server: nothing that was acknowledged is lost, doubled or
// changed.
import { describe, test } from 'vitest'
import { s3Server } from '../support/buckets.ts'
import { expectKept } from './kills.ts'
import { onS3 } from '../support/worlds/places.ts'
import { choicesOf, faultSeed, storms } from '../support/faults/seeded.ts'

const SEED = faultSeed()
const KILLS = 20

describe.skipIf(!s3Server)(`kills on the S3 server, FAULT_SEED=${SEED}`, () => {
  test.for(storms([11, 12, 13, 14]))('storm %d', async (stream) => {
    await expectKept('kills on the S3 server', await onS3(), choicesOf(SEED, stream), KILLS)
  })
})
