// The peer of submissions: a bare node:http server that checks a forecast as the service does, and answers
// the same bytes and headers after one INSERT, committed by itself, in PostgreSQL. Its argument is a file
// with what it must know.
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { type IncomingMessage, createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { Pool } from 'pg'
import { v4 as uuidv4, v7 as uuidv7 } from 'uuid'
import { z } from 'zod'
import { forecastSubmission } from '../schemas/requests.ts'
import { rounded } from '../pipeline/scoring/round.ts'
import { acknowledgementBytes } from '../pipeline/tables/receipts.ts'
import type { ForecastRow } from '../schemas/tables.ts'
import { uuid } from '../schemas/values.ts'
import { POSTGRES_USER } from './postgres.ts'
import { listenAndTell } from './listen.ts'

/** What the peer knows, as the service knows it from its store. */
export interface PeerWorld {
  /** The folder of PostgreSQL's socket. */
  host: string
  /** The SHA-256 of each agent's key, with its id. */
  agents: [string, string][]
  questions: string[]
  /** Of every answer, beside its request id and its length. */
  headers: Record<string, string>
}

const POOL_SIZE = 32
const INSERT = {
  name: 'insert',
  text: `INSERT INTO forecasts VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
}
const world = JSON.parse(await readFile(process.argv[2]!, 'utf8')) as PeerWorld
const agents = new Map(world.agents)
const questions = new Set(world.questions)
const params = z.strictObject({ agent_id: uuid })

const pool = new Pool({ host: world.host, user: POSTGRES_USER, database: 'postgres', max: POOL_SIZE })
await pool.query(
  `CREATE TABLE forecasts (forecast_id uuid PRIMARY KEY, entity_type text NOT NULL, entity_id uuid NOT NULL,
     question_id uuid NOT NULL, probability double precision NOT NULL, forecast_at timestamptz NOT NULL,
     recorded_at timestamptz NOT NULL, source text NOT NULL)`,
)

const server = createServer((request, response) => {
  void submitted(request).then(
    (body) => {
      response.writeHead(200, {
        ...world.headers,
        'X-Request-Id': uuidv4(),
        'Content-Length': body.length,
      })
      response.end(body)
    },
    () => {
      response.writeHead(400)
      response.end()
    },
  )
})
listenAndTell(server)

async function submitted(request: IncomingMessage): Promise<Uint8Array> {
  const { agent_id } = params.parse({ agent_id: request.url!.split('/')[2] })
  const key = request.headers.authorization!.slice('Bearer '.length)
  if (agents.get(createHash('sha256').update(key).digest('hex')) !== agent_id) throw new Error('wrong key')
  const { question_id, probability } = forecastSubmission.parse(JSON.parse(await text(request)))
  if (!questions.has(question_id)) throw new Error('no such question')
  const at = new Date()
  const row: ForecastRow = {
    forecast_id: uuidv7(),
    entity_type: 'agent',
    entity_id: agent_id,
    question_id,
    probability: rounded(probability),
    forecast_at: at,
    recorded_at: at,
    source: 'api',
  }
  await pool.query({ ...INSERT, values: Object.values(row) })
  return acknowledgementBytes(row)
}
