// The statement about a release in an entry of the public log.
import { z } from 'zod'
import { ENVIRONMENTS, base64Hash, instant, sha256 } from './values.ts'

/** A Merkle tree over something that a release published or took in; null if the release has none. */
const tree = z
  .object({
    root: base64Hash,
    size: z.number().int().positive(),
  })
  .nullable()

export const statement = z.object({
  agent: tree,
  as_of: instant,
  environment: z.enum(ENVIRONMENTS),
  forecaster: tree,
  forecasts: tree,
  manifest_sha256: sha256,
  methodology_version: z.string(),
  release: z.number().int().positive(),
  snapshot_sha256: sha256.nullable(),
})
export type Statement = z.infer<typeof statement>

/** The trees of a statement, by their names in it. */
export type StatementTree = 'agent' | 'forecaster' | 'forecasts'
