// Two nodes that both release, with clocks apart, on a disk and on an S3 server.
import { describe, test } from 'vitest'
import { s3Server } from '../support/buckets.ts'
import { TEN_MINUTES_MS, expectKeptApart } from './clocks.ts'
import { onDisk, onS3 } from '../support/worlds/places.ts'
import { choicesOf, faultSeed } from '../support/faults/seeded.ts'

const SEED = faultSeed()
const APART = [
  { aheadMs: 40_000, takesForecasts: true },
  { aheadMs: TEN_MINUTES_MS, takesForecasts: false },
]

describe(`two schedulers with clocks apart, FAULT_SEED=${SEED}`, () => {
  test.for(APART)('by $aheadMs ms on a disk', async (apart) => {
    await expectKeptApart('clocks apart on a disk', await onDisk(), choicesOf(SEED, 31), apart)
  })

  test.skipIf(!s3Server).for(APART)('by $aheadMs ms on the S3 server', async (apart) => {
    await expectKeptApart('clocks apart on the S3 server', await onS3(), choicesOf(SEED, 32), apart)
  })
})
