// Answers the requests in the file that it is given with what stands there, from memory.
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { listenAndTell } from '../listen.ts'

/** By paths, each with the body that was sent. */
export type Replayed = Record<string, { headers: Record<string, string>; body: string }>

const replayed = JSON.parse(readFileSync(process.argv[2]!, 'utf8')) as Replayed
const answers = new Map(
  Object.entries(replayed).map(([asked, { headers, body }]) => [asked, { headers, body: Buffer.from(body) }]),
)
const server = createServer({ keepAliveTimeout: 65_000 }, (request, response) => {
  const answer = async () => {
    const asked = request.method === 'POST' ? await text(request) : ''
    const { headers, body } = answers.get(request.url! + asked)!
    response.writeHead(200, { ...headers, 'Content-Length': body.length })
    response.end(body)
  }
  void answer()
})
listenAndTell(server)
