// Connections that ask a service at a steady pace while something happens to it. Answers are kept as they
// came and judged later, since what callers do themselves would be measured as the service's.
import { setTimeout as pause } from 'node:timers/promises'
import type { Expected, Judgement, Question } from './expected-answers.ts'
import { KeepAlive } from './keep-alive.ts'
import { answerIn, bytesOf } from './raw-http.ts'

export interface AskedPath extends Question {
  path: string
  headers?: Record<string, string>
  /** Sent by POST. */
  body?: string
}

export interface Answered {
  asked: AskedPath
  connection: number
  /** When it was sent, by the clock of `performance`. */
  sentMs: number
  /** How much later than it was due: this process was busy. */
  lateMs: number
  tookMs: number
  /** Its head included. */
  bytes: Buffer
}

/** An answer with the release that it names, if any, or with what is wrong with it. */
export interface Judged {
  answer: Answered
  release?: number | undefined
  wrong?: string
}

export interface Asking {
  /** How many there are so far. */
  count: () => number
  answers: () => Answered[]
  /** Sends no more, and resolves once all is answered. */
  stop: () => Promise<void>
}

export interface Pace {
  connections: number
  perSecond: number
}

/**
 * For some hundred thousand answers. Only what is written takes memory, and each piece has V8 collect all
 * garbage.
 */
const PIECE_BYTES = 512 * 1024 * 1024

/**
 * Answers as columns of numbers and few pieces of memory, so that the garbage collection of this process has
 * nothing to go through.
 */
class Kept {
  readonly #asked: readonly AskedPath[]
  readonly #pieces: Buffer[] = []
  /** How much of the last piece is taken. */
  #taken = 0
  readonly #numbers = {
    asked: [] as number[],
    connection: [] as number[],
    sentMs: [] as number[],
    lateMs: [] as number[],
    tookMs: [] as number[],
    piece: [] as number[],
    from: [] as number[],
    length: [] as number[],
  }

  constructor(asked: readonly AskedPath[]) {
    this.#asked = asked
  }

  get count(): number {
    return this.#numbers.asked.length
  }

  add(asked: number, connection: number, [sentMs, lateMs, tookMs]: Times, bytes: Buffer): void {
    const { length } = bytes
    if (this.#taken + length > (this.#pieces.at(-1)?.length ?? 0)) {
      this.#pieces.push(Buffer.allocUnsafeSlow(Math.max(PIECE_BYTES, length)))
      this.#taken = 0
    }
    bytes.copy(this.#pieces.at(-1)!, this.#taken)
    const numbers = this.#numbers
    numbers.asked.push(asked)
    numbers.connection.push(connection)
    numbers.sentMs.push(sentMs)
    numbers.lateMs.push(lateMs)
    numbers.tookMs.push(tookMs)
    numbers.piece.push(this.#pieces.length - 1)
    numbers.from.push(this.#taken)
    numbers.length.push(length)
    this.#taken += length
  }

  all(): Answered[] {
    const { asked, connection, sentMs, lateMs, tookMs, piece, from, length } = this.#numbers
    return Array.from({ length: this.count }, (_, nth) => ({
      asked: this.#asked[asked[nth]!]!,
      connection: connection[nth]!,
      sentMs: sentMs[nth]!,
      lateMs: lateMs[nth]!,
      tookMs: tookMs[nth]!,
      bytes: this.#pieces[piece[nth]!]!.subarray(from[nth], from[nth]! + length[nth]!),
    }))
  }
}

type Times = [sentMs: number, lateMs: number, tookMs: number]

/** Asks for the paths by turns. */
export function startAsking(
  url: string,
  paths: readonly AskedPath[],
  { connections, perSecond }: Pace,
): Asking {
  let stopped = false
  let nth = 0
  const requests = paths.map(requestOf)
  const kept = new Kept(paths)
  const everyMs = (1000 * connections) / perSecond
  const ask = async (connection: number) => {
    using server = await KeepAlive.open(url)
    let dueMs = performance.now() + (everyMs * connection) / connections
    while (!stopped) {
      await pause(Math.max(0, dueMs - performance.now()))
      if (stopped) break
      const asked = nth++ % requests.length
      const sentMs = performance.now()
      const bytes = await server.ask(requests[asked]!)
      const answeredMs = performance.now()
      kept.add(asked, connection, [sentMs, sentMs - dueMs, answeredMs - sentMs], bytes)
      // A turn that has gone by is left out. Otherwise all who had to wait once would ask at the same time
      // from then on.
      dueMs += everyMs * Math.max(1, Math.ceil((answeredMs - dueMs) / everyMs))
    }
  }
  const running = Promise.all(Array.from({ length: connections }, (_, connection) => ask(connection)))
  // Told by `stop`: until then nobody waits for it.
  running.catch(() => {
    stopped = true
  })
  return {
    count: () => kept.count,
    answers: () => kept.all(),
    stop: async () => {
      stopped = true
      await running
    },
  }
}

/**
 * What each of the answers says; also wrong is one of an older release than one of its kind before on its
 * connection.
 */
export function judged(answers: readonly Answered[], expected: Expected): Judged[] {
  const newestOf = new Map<string, number>()
  return answers.map((answer) => {
    const judgement = judgedAlone(answer, expected)
    if ('wrong' in judgement || judgement.release === undefined) return { answer, ...judgement }
    const { release } = judgement
    const stream = `${answer.connection} ${answer.asked.kind}`
    const before = newestOf.get(stream) ?? 0
    if (release < before) return { answer, wrong: `release ${release} after ${before} on one connection` }
    newestOf.set(stream, release)
    return { answer, release }
  })
}

function judgedAlone({ asked, bytes }: Answered, expected: Expected): Judgement {
  try {
    return expected.judge(asked, asked.path, answerIn(bytes))
  } catch (error) {
    return { wrong: String(error) }
  }
}

/** The newest release that was answered, by kinds of questions; those are missing whose answers name none. */
export function newestIn(all: readonly Judged[]): Record<string, number> {
  const newest: Record<string, number> = {}
  for (const { answer, release } of all) {
    const { kind } = answer.asked
    if (release !== undefined) newest[kind] = Math.max(release, newest[kind] ?? 0)
  }
  return newest
}

/** What is wrong, each with the path that was asked for. */
export function wrongIn(all: readonly Judged[]): string[] {
  return all.flatMap(({ answer, wrong }) => (wrong === undefined ? [] : [`${answer.asked.path}: ${wrong}`]))
}

function requestOf({ path, headers = {}, body }: AskedPath): Buffer {
  const sent = Buffer.from(body ?? '')
  return bytesOf({
    method: body === undefined ? 'GET' : 'POST',
    target: path,
    headers: [
      ['Host', 'callers'],
      ...Object.entries(headers),
      ...(body === undefined ? [] : [['Content-Length', String(sent.length)] as const]),
    ],
    body: sent,
    version: 'HTTP/1.1',
    hangsUp: false,
  })
}
