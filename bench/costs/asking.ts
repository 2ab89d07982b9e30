// Asks a server from a thread of its own, one request after another, and tells the answer. What it costs to
// ask is then no part of the main thread.
import { parentPort, workerData } from 'node:worker_threads'
import { KeepAlive, statusOf } from '../../test/support/http/keep-alive.ts'

export interface Answered {
  status: number
  /** As how many calls it counted; undefined where the answer does not tell. */
  counted: number | undefined
  body: string
}

const url = workerData as string
let connection = await KeepAlive.open(url)
/** The calls left of each policy after the last answer. */
const left = new Map<string, number>()

parentPort!.on('message', (request: string) => {
  void answer(request).then((answered) => {
    parentPort!.postMessage(answered)
  })
})

async function answer(request: string): Promise<Answered> {
  const text = (await connection.ask(request)).toString('latin1')
  const headEnd = text.indexOf('\r\n\r\n')
  const head = text.slice(0, headEnd)
  if (/^Connection: close/im.test(head)) {
    connection[Symbol.dispose]()
    connection = await KeepAlive.open(url)
  }
  const [, policy, remaining] = /^RateLimit: "([a-z-]+)";r=(\d+)/m.exec(head) ?? []
  const before = policy === undefined ? undefined : left.get(policy)
  if (policy !== undefined) left.set(policy, Number(remaining))
  return {
    status: statusOf(Buffer.from(head, 'latin1')),
    counted: before === undefined ? undefined : before - Number(remaining),
    body: Buffer.from(text.slice(headEnd + 4), 'latin1').toString(),
  }
}
