// The Parquet file of a release with one row per entity.
import { parquetWriteBuffer } from 'hyparquet-writer'
import { type Provenance, type RankedEntity, payloadsOf } from './payloads.ts'
import type { OutputFile } from './shards.ts'

type ParquetType = 'STRING' | 'INT32' | 'DOUBLE' | 'BOOLEAN'

/** entities.parquet: one row per entity with the numbers of its payloads. */
export function entitiesFile(entities: readonly RankedEntity[], provenance: Provenance): OutputFile {
  const rows = entities.map((entity): Record<string, unknown> => {
    const { metrics, rankings, advanced_metrics } = payloadsOf(entity, provenance) as Record<
      string,
      Record<string, unknown>
    >
    const { calibration, skill_interval } = metrics as Record<string, Record<string, number> | null>
    return {
      ...metrics,
      ...advanced_metrics,
      ...rankings,
      skill: metrics!['skill'],
      entity_type: entity.entityType,
      entity_id: entity.entityId,
      title: rankings!['certification'] ?? rankings!['badge'],
      skill_lower: skill_interval?.['lower'],
      skill_upper: skill_interval?.['upper'],
      closing_brier: calibration?.['brier'],
      miscalibration: calibration?.['miscalibration'],
      discrimination: calibration?.['discrimination'],
      uncertainty: calibration?.['uncertainty'],
    }
  })
  const columnData = Object.entries(ENTITY_COLUMNS).map(([name, type]) => ({
    name,
    type,
    data: rows.map((row) => row[name] ?? null),
  }))
  const bytes = new Uint8Array(parquetWriteBuffer({ columnData, createdBy: 'forecast-verification-service' }))
  return { path: 'entities.parquet', rows: rows.length, bytes }
}

const ENTITY_COLUMNS: Record<string, ParquetType> = {
  entity_type: 'STRING',
  entity_id: 'STRING',
  title: 'STRING',
  eligible: 'BOOLEAN',
  rank: 'INT32',
  percentile: 'DOUBLE',
  skill: 'DOUBLE',
  skill_lower: 'DOUBLE',
  skill_upper: 'DOUBLE',
  resolved_questions: 'INT32',
  forecasts: 'INT32',
  imported_share: 'DOUBLE',
  coverage_sum: 'DOUBLE',
  brier: 'DOUBLE',
  log_score: 'DOUBLE',
  baseline_score: 'DOUBLE',
  peer_score: 'DOUBLE',
  closing_brier: 'DOUBLE',
  miscalibration: 'DOUBLE',
  discrimination: 'DOUBLE',
  uncertainty: 'DOUBLE',
  expected_calibration_error: 'DOUBLE',
  skill_stability: 'DOUBLE',
  skill_deviation: 'DOUBLE',
  windows: 'INT32',
  conviction: 'DOUBLE',
  conviction_gap: 'DOUBLE',
  responsiveness: 'DOUBLE',
  updates: 'INT32',
  updates_per_question: 'DOUBLE',
  flip_flop: 'DOUBLE',
}
