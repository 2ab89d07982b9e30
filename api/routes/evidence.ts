// The calls by which others check what the service says, in the order of the OpenAPI document.
import type { Route } from '../http/route.ts'
import { dataFile, dataIndex, dataViews } from './data.ts'
import { forecastProof, proofs } from './proofs.ts'
import { logCheckpoint, logKeys, logTile } from './public-log.ts'

export const evidence: Route[] = [
  ...proofs,
  forecastProof,
  logCheckpoint,
  logTile,
  logKeys,
  dataIndex,
  dataViews,
  dataFile,
]
