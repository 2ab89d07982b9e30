// The listening socket. It limits slow and many clients, and closes without losing an answer.
import { once } from 'node:events'
import { type RequestListener, type Server, createServer } from 'node:http'
import { type AddressInfo, Server as NetServer } from 'node:net'
import { ServiceError } from '../../schemas/errors.ts'
import type { Addresses } from '../limits/addresses.ts'
import type { RoomLimits } from './connection-room.ts'
import { Connections } from './connections.ts'
import { HEADER_LIMIT_BYTES, answerUnreadRequests } from './unread-requests.ts'

export interface ServerSettings extends RoomLimits {
  host: string
  /** 0 for any free port. */
  port: number
  /** Whether other processes that share it too may listen on the port; the system spreads the connections. */
  sharePort: boolean
  /** The longest that a client may take to send a whole request. */
  requestTimeoutMs: number
  /** The longest pause between requests, or while a client does not read an answer. */
  idleTimeoutMs: number
}

export interface RunningServer {
  url: string
  /**
   * Stops accepting, waits for the answers under way, and cuts off the connections left after `timeoutMs`.
   */
  close(timeoutMs: number): Promise<void>
}

/** @throws ServiceError `conflict` if the port is taken, `invalid` if the address cannot be used. */
export async function startServer(
  answer: RequestListener,
  settings: ServerSettings,
  networksOf: Addresses['ofConnection'],
): Promise<RunningServer> {
  const server = createServer({
    requestTimeout: settings.requestTimeoutMs,
    headersTimeout: Math.min(10_000, settings.requestTimeoutMs),
    keepAliveTimeout: settings.idleTimeoutMs,
    connectionsCheckingInterval: Math.min(1_000, settings.requestTimeoutMs),
    maxHeaderSize: HEADER_LIMIT_BYTES,
    // The application itself requires a Host, so that its refusal is a problem.
    requireHostHeader: false,
  })
  server.timeout = settings.idleTimeoutMs
  // A client that half-closes after its requests (`nc -N`) still gets the answers.
  Object.assign(server, { httpAllowHalfOpen: true })
  const connections = new Connections(server, settings, networksOf, answer)
  answerUnreadRequests(server, connections)
  // The service does not meet an expectation other than 100-continue, but it answers the request.
  server.on('checkExpectation', (request, response) => server.emit('request', request, response))
  await listen(server, settings)
  const { address, port, family } = server.address() as AddressInfo
  return {
    url: `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`,
    close: (timeoutMs) => close(server, connections, timeoutMs),
  }
}

async function listen(server: Server, { host, port, sharePort }: ServerSettings): Promise<void> {
  server.listen({ host, port, backlog: 1024, reusePort: sharePort })
  try {
    await once(server, 'listening')
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    if (code === 'EADDRINUSE') {
      throw new ServiceError('conflict', `port ${port} on ${host} is taken; set PORT`, { cause })
    }
    throw new ServiceError('invalid', `cannot listen on ${host}:${port} (${code})`, { cause })
  }
}

async function close(server: Server, connections: Connections, timeoutMs: number): Promise<void> {
  const closed = new Promise<void>((resolve) => {
    // `server.close` would cut off an answer that its client still reads: Node takes such a connection for
    // idle.
    NetServer.prototype.close.call(server, () => {
      resolve()
    })
  })
  connections.end()
  const cutOff = setTimeout(() => {
    server.closeAllConnections()
  }, timeoutMs)
  await closed
  clearTimeout(cutOff)
}
