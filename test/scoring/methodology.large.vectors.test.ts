// All worked worlds of METHODOLOGY 3.0.0 against both scorers; most are too large for the repository.
import { describe } from 'vitest'
import { besideRepository } from '../support/beside.ts'
import { SMALL_VECTORS, readVectors, testWorlds, testWorldsPlainly } from '../support/methodology-vectors.ts'

const found = besideRepository('vectors/methodology-3.0.0.json')

describe.skipIf(!found)('all worlds', () => {
  const vectors = readVectors(found?.[0] ?? SMALL_VECTORS)

  describe('by the steps of the service', () => {
    testWorlds(vectors)
  })

  describe('by the plain scorer', () => {
    testWorldsPlainly(vectors)
  })
})
