// A proxy that answers wrongly before a real S3 server: nothing that was acknowledged is lost, doubled or
// changed.
import { describe, test } from 'vitest'
import { s3Server } from '../support/buckets.ts'
import { onS3 } from '../support/worlds/places.ts'
import { choicesOf, faultSeed } from '../support/faults/seeded.ts'
import { ToxicProxy } from './toxic-proxy.ts'
import { expectKeptThrough } from './toxics.ts'

const SEED = faultSeed()

describe.skipIf(!s3Server)(`a toxic proxy before the S3 server, FAULT_SEED=${SEED}`, () => {
  test.for([21])('run %d', async (stream) => {
    const choices = choicesOf(SEED, stream)
    const proxy = await ToxicProxy.start(s3Server!.S3_ENDPOINT, choices)
    await expectKeptThrough('a toxic proxy', await onS3(), proxy, choices, { rounds: 4, roundMs: 4_000 })
  })
})
