// The example values of the OpenAPI document: one small world in which everything fits together.
import { ENTITY_FACTS, exampleFacts } from '../../schemas/entity-facts.ts'
import { exampleOf, metricExamples } from '../../schemas/metrics.ts'
import { LISTED_METRICS } from '../../schemas/payloads.ts'
import type { EntityType } from '../../schemas/tables.ts'
import type { ProblemText } from '../http/route.ts'

const METHODOLOGY_VERSION = '4.0.0'
export const AGENT_ID = '01955c3a-7b1e-7c32-9d4f-2f6b8e1a0c5d'
export const USER_ID = '7c9e6679-7425-40de-944b-e07fc1f90ae7'
export const QUESTION_ID = '5f0b6f4e-8f5e-4d0a-9c58-1d1b0c6f7a21'

/** Returns the problem of one wrong value in a part of a request. */
export const invalid = (part: 'path' | 'query' | 'body', name: string, detail: string): ProblemText => ({
  type: `invalid-${part}`,
  detail: `the ${part} is not valid: ${name} ${detail}`,
  errors: [{ pointer: `/${name}`, detail: `${name} ${detail}` }],
})

const SIGNATURE = `v1=${'7d0f3a94c25e18b6'.repeat(4)}`
const UNKNOWN_ID = '9b2f1c57-3d64-4e0a-8f21-5a7c6d8e9f10'

const PROVENANCE = {
  methodology_version: METHODOLOGY_VERSION,
  release: 214,
  as_of: '2026-03-01T12:00:00.000Z',
  environment: 'production',
}
const AGENT = { agent_id: AGENT_ID }
const FORECASTER = { user_id: USER_ID }
const CERTIFIED_AGENT = { ...AGENT, certification: 'certified' }
const CERTIFIED_FORECASTER = { ...FORECASTER, badge: 'certified' }

const RECORDED = { voice_rule: 'recorded' } as const
export const OWNER_ID = ENTITY_FACTS.owner_id.example
const publicationsOf = (entityType: EntityType, named: object, ranked: object) => ({
  verification: {
    ...ranked,
    ...exampleFacts('verification', entityType),
    ...exampleOf('verification', entityType),
    ...RECORDED,
    ...PROVENANCE,
  },
  metrics: { ...named, ...exampleOf('metrics', entityType), ...PROVENANCE },
  rankings: {
    ...ranked,
    ...exampleFacts('rankings', entityType),
    ...exampleOf('rankings', entityType),
    ...PROVENANCE,
  },
  profile: { ...named, ...exampleFacts('profile', entityType), ...PROVENANCE },
  advanced_metrics: { ...named, ...exampleOf('advanced_metrics', entityType), ...PROVENANCE },
})
export const PUBLICATIONS = {
  agent: publicationsOf('agent', AGENT, CERTIFIED_AGENT),
  forecaster: publicationsOf('forecaster', FORECASTER, CERTIFIED_FORECASTER),
}

export const owner = {
  owner_id: OWNER_ID,
  agents: [
    {
      agent_id: AGENT_ID,
      name: 'my-agent',
      certification: 'certified',
      skill: PUBLICATIONS.agent.verification.skill,
      retired_at: null,
    },
  ],
  scored_agents: 1,
  certified: 1,
  best_skill: PUBLICATIONS.agent.verification.skill,
  middle_skill: PUBLICATIONS.agent.verification.skill,
  ...PROVENANCE,
}

export const NO_RELEASE_YET = 'no release has been made yet; the first one is due at 2026-03-01T12:15:00.000Z'
const { skill, pool, evidence, clusters } = exampleOf('verification', 'agent')
export const leaderboardPage = {
  ...PROVENANCE,
  entity_type: 'agent',
  entries: [
    {
      ...CERTIFIED_AGENT,
      retired_at: null,
      name: 'my-agent',
      model_type: ENTITY_FACTS.model_type.example,
      organization_name: ENTITY_FACTS.organization_name.example,
      ...metricExamples(LISTED_METRICS),
      trend: [-0.045, 0.151, skill],
    },
  ],
  references: [
    {
      reference: 'always_half',
      entity_type: 'agent',
      pool,
      category: null,
      skill: -0.207113,
      board_interval: { lower: -0.309155, upper: -0.105071 },
      median_skill: -0.18127,
      market_skill: null,
      evidence,
      contested_questions: 212,
      clusters,
      priced_questions: 0,
    },
  ],
  next_cursor: '214_1',
}

export const people = { signed: false, people: [{ user_id: USER_ID, name: 'Ada' }] }

const SCORE = {
  question_id: QUESTION_ID,
  title: 'Will this simulated question end with yes?',
  outcome: 'yes',
  resolved_at: '2026-02-27T09:30:00.000Z',
  settled: true,
  settled_at: '2026-02-28T00:00:00.000Z',
  unit: 'question:5f0b6f4e-8f5e-4d0a-9c58-1d1b0c6f7a21',
  cluster: 'event:example-series',
  week: '2026-W09',
  divisor: 1,
  joint: 'lone',
  unit_questions: 1,
  coverage: 0.75,
  brier: 0.0729,
  log_score: 0.314710744841,
  baseline_score: 40.947270318163,
  peer_score: 11.25,
  judged_coverage: 0.5,
  judged_brier: 36_450_000,
  average_brier: 51_200_000,
  median_brier: 45_000_000,
  market_brier: 51_200_000,
  judged_brier_if_other: 266_450_000,
  average_brier_if_other: 231_200_000,
  median_brier_if_other: 245_000_000,
  market_brier_if_other: 231_200_000,
  voices: 12,
  forecasts: 2,
  closing_probability: 0.73,
  witnessed: true,
  contested: true,
  priced: false,
  gain: 14_750_000,
  spread: 22_802_138,
  median_gain: 8_550_000,
  median_spread: 13_543_264,
  market_gain: 14_750_000,
  market_spread: 22_802_138,
}
export const SCORES = {
  agent: { ...AGENT, scores: [SCORE], next_cursor: '214_4821', ...PROVENANCE },
  forecaster: { ...FORECASTER, scores: [SCORE], next_cursor: '214_907', ...PROVENANCE },
}

export const registration = {
  name: 'my-agent',
  model_type: ENTITY_FACTS.model_type.example,
  organization_name: ENTITY_FACTS.organization_name.example,
}
export const registered = {
  agent_id: AGENT_ID,
  api_key: 'fv_live_Example1_ThisIsAnExampleAndNotARealApiKey000000',
}

export const rotatedKey = {
  agent_id: AGENT_ID,
  api_key: 'fv_live_Example2_ThisIsAnExampleAndNotARealApiKey000000',
  old_key_works_until: '2026-03-02T12:00:00.000Z',
}
export const retiredAgent = { agent_id: AGENT_ID, retired_at: '2026-03-02T12:00:00.000Z' }
export const keyUsage = {
  tier: 'pro',
  month: '2026-03',
  calls: 412,
  monthly_calls: 5000,
  resets_at: '2026-04-01T00:00:00.000Z',
}

export const forecastSubmission = { question_id: QUESTION_ID, probability: 0.73 }
export const acknowledgedWithdrawal = {
  forecast_id: '01955c3a-9c40-7a11-8b5f-0c2d4e6f8a1b',
  agent_id: AGENT_ID,
  question_id: QUESTION_ID,
  probability: null,
  forecast_at: '2026-03-01T11:20:00.000Z',
}
export const acknowledgedForecast = {
  forecast_id: '019ca92e-1a15-7a90-8b3e-6a7d5c4f3e21',
  agent_id: AGENT_ID,
  ...forecastSubmission,
  forecast_at: '2026-03-01T11:34:56.789Z',
}

export const currentForecasts = {
  agent_id: AGENT_ID,
  forecasts: [
    {
      forecast_id: acknowledgedForecast.forecast_id,
      question_id: QUESTION_ID,
      title: 'A simulated question of the example',
      closes_at: '2026-06-01T00:00:00.000Z',
      probability: acknowledgedForecast.probability,
      forecast_at: acknowledgedForecast.forecast_at,
    },
  ],
  next_cursor: null,
}

export const forecastSubmissions = {
  forecasts: [forecastSubmission, { question_id: UNKNOWN_ID, probability: 0.2 }],
}
export const refusedForecast = {
  status: 'refused',
  question_id: UNKNOWN_ID,
  problem: {
    type: '/problems/not-found',
    title: 'There is nothing with this name',
    status: 404,
    detail: `there is no question ${UNKNOWN_ID}`,
  },
}

export const bulkVerification = { entity_type: 'agent', ids: [AGENT_ID, UNKNOWN_ID] }
export const bulkResults = {
  results: [
    { id: AGENT_ID, status: 'ok', verification: PUBLICATIONS.agent.verification, signature: SIGNATURE },
    { id: UNKNOWN_ID, status: 'not_found', detail: `there is no agent ${UNKNOWN_ID}` },
  ],
}

const RANKED = { ...exampleOf('rankings', 'agent'), ...exampleOf('verification', 'agent') }
const SNAPSHOT = {
  ...AGENT,
  date: '2026-02-28',
  release: 201,
  rank: null,
  rank_interval: null,
  percentile: null,
  skill: null,
  skill_interval: null,
  resolved_questions: 21,
  contested_questions: 20,
  population: 98,
  methodology_version: METHODOLOGY_VERSION,
  environment: 'production',
  certification: 'none',
}
export const snapshotHistory = {
  entity_type: 'agent',
  entity_id: AGENT_ID,
  snapshots: [
    SNAPSHOT,
    {
      ...SNAPSHOT,
      date: '2026-03-01',
      release: 208,
      rank: RANKED.rank,
      rank_interval: RANKED.rank_interval,
      percentile: RANKED.percentile,
      skill: RANKED.skill,
      skill_interval: RANKED.skill_interval,
      resolved_questions: RANKED.resolved_questions,
      contested_questions: RANKED.contested_questions,
      population: 100,
      certification: 'certified',
    },
  ],
}

const EXAMPLE_ROOT = 'h3nuS6gcA2qPzRkmUZ2nPCnxVCsXUqPZ1n2DqvxKb1s='
const MANIFEST = {
  ...PROVENANCE,
  ...RECORDED,
  engines: { service: '4.0.0', duckdb: 'v1.5.6' },
  tables: { agents: 3, forecasters: 1, forecasts: 412, questions: 9, resolutions: 7 },
  counts: { agents: 104, forecasters: 61, scored_questions: 240, forecasts: 48_210 },
  questions: {
    open: 31,
    overdue: 2,
    oldest_overdue_at: '2026-02-20T00:00:00.000Z',
    annulled: 3,
    early: 4,
    own_events: 12,
    shared_events: 90,
    no_events: 174,
  },
  pools: 1,
  next_change_at: '2026-03-02T00:00:00.000Z',
  quarantined: [
    {
      key: 'inbox/forecasts/01955c41-02d4-7a90-8b3e-6a7d5c4f3e21-3ba7c0de41f29a58.parquet',
      at: '2026-02-28T07:10:00.000Z',
      reason: 'the disk had lost its end, and no backup has it',
      size_bytes: 1024,
      sha256: 'c1f29e4db0a5873694ce12fb70d85a36'.repeat(2),
      rows: null,
      version: 411,
    },
  ],
  corrections: [
    {
      question_id: UNKNOWN_ID,
      column: 'outcome',
      from: 'yes',
      to: 'no',
      recorded_at: '2026-02-28T09:00:00.000Z',
      reason: 'the source has corrected itself',
      pairs: 31,
      entities: 31,
    },
  ],
  files: [
    {
      path: `agent/${AGENT_ID}.json`,
      rows: 104,
      size_bytes: 310_482,
      sha256: 'c3ab8ff13720e8ad9047dd39466b3c89'.repeat(2),
    },
  ],
  trees: {
    agent: { root: EXAMPLE_ROOT, size: 416, shards: [EXAMPLE_ROOT] },
    forecaster: null,
    forecasts: null,
  },
  inputs: [
    {
      table: 'resolutions',
      path: 'recorded_date=2026-02-28/resolutions-7-5f0c-0.parquet',
      rows: 1,
      size_bytes: 1188,
      sha256: '9d3a41e7f5c8b2604ea1d07c93b6f258'.repeat(2),
    },
  ],
  public: [
    {
      release: 198,
      path: 'public/questions/2026-02.parquet',
      rows: 96,
      size_bytes: 24_310,
      sha256: '07fa5b3cd1e92846c0b7d3f1a85e6429'.repeat(2),
    },
  ],
  snapshot_sha256: null,
}
export const currentRelease = { ...MANIFEST, next_due_at: '2026-03-01T12:15:00.000Z' }
export const publishedRelease = {
  ...MANIFEST,
  release: 1,
  as_of: '2025-12-06T09:00:00.000Z',
  quarantined: [],
  corrections: [],
  thinned_at: '2026-02-01T00:00:00.000Z',
}

export const NO_PUBLIC_DATA = 'the operator has made no files public'
export const dataIndex = {
  public_data: 'releases',
  release: MANIFEST.release,
  as_of: MANIFEST.as_of,
  files: [
    {
      path: 'releases/00000214/manifest.json',
      size_bytes: 61_204,
      sha256: '5d1c7e90ab42f3686f0d9b27e41c85da'.repeat(2),
    },
    {
      path: 'releases/00000214/scores/000.parquet',
      size_bytes: 482_113,
      sha256: '90e2f7ab31c64d5888fe0a7bd1c24359'.repeat(2),
    },
  ],
  snapshots: ['2026-02-28', '2026-03-01'],
  log_size: MANIFEST.release,
}

const listedQuestion = {
  question_id: QUESTION_ID,
  title: 'Will this simulated question end with yes?',
  category: 'example',
  url: 'https://example.org/questions/1',
  event_id: 'example-event',
  event: {
    event_id: 'example-event',
    title: 'Which simulated coins show heads?',
    kind: 'independent',
    position: 1,
    option: 'the first coin',
    questions: 2,
  },
  source: 'example-platform',
  source_id: '1',
  opened_at: '2026-01-01T00:00:00.000Z',
  closes_at: '2026-06-01T00:00:00.000Z',
  status: 'open',
  outcome: null,
  resolved_at: null,
  known_at: null,
  updated_at: '2025-12-20T09:30:00.000Z',
}
const { event_id: _, event: inEvent, ...ofEvent } = listedQuestion
export const eventSubmission = { probabilities: { [QUESTION_ID]: 0.62 } }
export const EVENT = {
  event_id: inEvent.event_id,
  title: inEvent.title,
  kind: inEvent.kind,
  source: null,
  source_id: null,
  url: null,
  question_count: 1,
  questions: [{ ...ofEvent, position: inEvent.position, option: inEvent.option }],
}
export const question = {
  ...listedQuestion,
  resolution_criteria: 'Yes, if the simulated coin shows heads.\n\nNo, if it shows tails.',
  background: 'The coin showed heads in 51 of its last 100 tosses.',
}
export const questionPage = {
  questions: [listedQuestion],
  next_cursor: `${Date.parse(listedQuestion.closes_at)}_${QUESTION_ID}`,
}

export const comparison = {
  ...PROVENANCE,
  a: { entity_type: 'agent', id: AGENT_ID, name: 'my-agent', brier: 0.151 },
  b: { entity_type: 'forecaster', id: USER_ID, name: 'A forecaster', brier: 0.187 },
  questions: 64,
  clusters: 31,
  brier_difference: -0.036,
  interval: { lower: -0.081, upper: 0.009, level: 0.95 },
  most_different: [
    {
      question_id: QUESTION_ID,
      title: 'A simulated question of the example',
      outcome: 'yes',
      coverage: 0.82,
      a_brier: 0.04,
      b_brier: 0.36,
    },
  ],
}
export const ownerClaim = {
  agent_id: AGENT_ID,
  domain: 'example.org',
  state: 'pending',
  token: 'fvs-owner-c2l4dGVlbiBieXRlcyBtb3Jl',
  file_url: 'https://example.org/.well-known/forecast-agents.json',
  record_name: '_forecast-agents.example.org',
  owner_id: 'domain:example.org',
  claimed_at: '2026-03-01T12:00:00.000Z',
  proved_at: null,
  looked_at: null,
  misses: 0,
  reason: null,
}
export const agentReport = {
  agent_id: AGENT_ID,
  ...PROVENANCE,
  counted: 64,
  not_counted: [{ reason: 'unmeasured', questions: 2 }],
  next_title: {
    title: 'certified',
    because: 'the interval of its skill is not above 0',
    questions: 38,
  },
  best: [],
  worst: [],
  questions: [
    {
      question_id: QUESTION_ID,
      title: 'A simulated question of the example',
      outcome: 'yes',
      coverage: 0.82,
      gain: null,
      reason: 'unmeasured',
      detail: 'in the first 75 % of its life no forecast stood beside 5 others, nor a market’s price',
    },
  ],
  next_cursor: null,
}
export const questionRationales = {
  question_id: QUESTION_ID,
  rationales: [
    {
      agent_id: AGENT_ID,
      forecast_id: acknowledgedForecast.forecast_id,
      probability: 0.73,
      forecast_at: acknowledgedForecast.forecast_at,
      rationale: 'It showed heads in 51 of its last 100 tosses.',
    },
  ],
  left_out: 0,
}

export const methodologyVersion = {
  version: METHODOLOGY_VERSION,
  effective_from: '2026-01-01',
  document_url: '/methodology',
  parameters: { eligible_questions: 25, certified_questions: 50, interval_level: 0.95 },
}

const found = (detail: string, checked_at = '2026-03-01T12:34:56.789Z') => ({ ok: true, detail, checked_at })
export const readiness = {
  status: 'ok',
  checks: {
    reads: found('the store was read'),
    writes: found('the store was written to'),
    clock: found('the clock of this node is 0 s ahead of that of the store'),
    questions: found('the questions were read'),
    release: found('release 214 is as of 2026-03-01T12:00:00.000Z, 2097 s ago'),
  },
}
