// Answers every request with the text that it is given as an argument, to show what node:http alone can do.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

const body = Buffer.from(process.argv[2] ?? '')
const server = createServer((_request, response) => {
  response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': body.length })
  response.end(body)
})
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo
  process.stderr.write(`${JSON.stringify({ url: `http://127.0.0.1:${port}` })}\n`)
})
