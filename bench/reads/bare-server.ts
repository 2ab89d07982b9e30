// Answers every request with the head and body in the file that it is given, to show what node:http alone can
// do.
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { listenAndTell } from '../listen.ts'

export interface BareAnswer {
  status: number
  /** Names and values by turns. */
  headers: string[]
  body: string
}

const { status, headers, body } = JSON.parse(readFileSync(process.argv[2]!, 'utf8')) as BareAnswer
const bytes = Buffer.from(body)
const server = createServer({ keepAliveTimeout: 65_000 }, (_request, response) => {
  response.writeHead(status, headers)
  response.end(bytes)
})
listenAndTell(server)
