// The statement about a release in an entry of the public log. The verifier checks its form, without zod,
// because readers download it (pipeline/proof/verify.ts).
import type { Environment } from './values.ts'

/** A Merkle tree over something that a release published or took in; null if the release has none. */
type Tree = { root: string; size: number } | null

export interface Statement {
  agent: Tree
  as_of: string
  environment: Environment
  forecaster: Tree
  forecasts: Tree
  manifest_sha256: string
  methodology_version: string
  release: number
  snapshot_sha256: string | null
}

/** The trees of a statement, by their names in it. */
export type StatementTree = 'agent' | 'forecaster' | 'forecasts'
