// One request as bytes on a connection of its own, sent as no client would, and whatever came back.
import { connect } from 'node:net'

export interface RawRequest {
  method: string
  /** The path and the query, or whatever stands in their place. */
  target: string
  /** In the order of sending, each as often as it is there. */
  headers: readonly (readonly [name: string, value: string])[]
  body: Buffer
  version: string
  /** Whether the client says at once that it sends no more, as one that gave up does. */
  hangsUp: boolean
}

export interface RawAnswer {
  status: number
  /** By lower-case name. */
  headers: Record<string, string>
  body: Buffer
}

const EMPTY_LINE = '\r\n\r\n'

/** Text goes out as UTF-8. */
export function bytesOf({ method, target, headers, body, version }: RawRequest): Buffer {
  const lines = [`${method} ${target} ${version}`, ...headers.map(([name, value]) => `${name}: ${value}`)]
  return Buffer.concat([Buffer.from(lines.join('\r\n') + EMPTY_LINE), body])
}

/**
 * Resolves to the answers once there is one and the service has closed the connection if it said that it would; to
 * none where it closed without a word. Rejects for what is no HTTP, or breaks off.
 */
export function exchange(
  url: string,
  sent: Buffer,
  { hangsUp = false, isHead = false } = {},
): Promise<RawAnswer[]> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve, reject) => {
    let received = Buffer.alloc(0)
    const socket = connect({ host: hostname, port: Number(port) })
    socket.on('data', (chunk: Buffer) => {
      received = Buffer.concat([received, chunk])
      const last = answersIn(received, isHead).answers.at(-1)
      if (last !== undefined && last.headers['connection'] !== 'close') socket.destroy()
    })
    // An abrupt end is an end too.
    socket.on('error', () => undefined)
    socket.on('close', () => {
      const { answers, rest } = answersIn(received, isHead)
      if (rest.length === 0) resolve(answers)
      else reject(new Error(`no whole answer: ${JSON.stringify(rest.toString('latin1').slice(0, 500))}`))
    })
    socket.write(sent)
    if (hangsUp) socket.end()
  })
}

/** The whole answers, without interim ones (1xx), and what follows them. */
function answersIn(received: Buffer, isHead: boolean): { answers: RawAnswer[]; rest: Buffer } {
  const answers: RawAnswer[] = []
  for (let rest = received; ;) {
    const end = rest.indexOf(EMPTY_LINE)
    const head = end < 0 ? undefined : headOf(rest.toString('latin1', 0, end))
    if (head === undefined) return { answers, rest }
    const { status, headers } = head
    // What is no request at all is answered before it is known to be a HEAD.
    const isEmpty = isHead && headers['x-request-id'] !== undefined
    const isBare = isEmpty || status < 200 || status === 204 || status === 304
    const bodyEnd = end + EMPTY_LINE.length + (isBare ? 0 : Number(headers['content-length']))
    if (!(bodyEnd <= rest.length)) return { answers, rest }
    if (status >= 200)
      answers.push({ status, headers, body: rest.subarray(end + EMPTY_LINE.length, bodyEnd) })
    rest = rest.subarray(bodyEnd)
  }
}

/** Undefined for what is no head of an answer, or has a header twice. */
function headOf(text: string): Pick<RawAnswer, 'status' | 'headers'> | undefined {
  const [first = '', ...lines] = text.split('\r\n')
  const status = /^HTTP\/1\.1 (\d{3}) [\w' -]+$/.exec(first)?.[1]
  const headers: Record<string, string> = {}
  for (const line of lines) {
    const [, name = '', value = ''] = /^([\w-]+): ([\x20-\x7e]*)$/.exec(line) ?? []
    if (name === '' || Object.hasOwn(headers, name.toLowerCase())) return undefined
    headers[name.toLowerCase()] = value
  }
  return status === undefined ? undefined : { status: Number(status), headers }
}
