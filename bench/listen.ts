// How a server that `startServer` starts tells where it is.
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'

/** Listens on a free port of this machine, and tells its URL on standard error. */
export function listenAndTell(server: Server): void {
  server.listen(0, '127.0.0.1', () => {
    const { port } = server.address() as AddressInfo
    process.stderr.write(`${JSON.stringify({ url: `http://127.0.0.1:${port}` })}\n`)
  })
}
