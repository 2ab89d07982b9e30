// The listening socket: bounded against slow and many clients, and closed without losing an answer.
import { once } from 'node:events'
import {
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
  createServer,
} from 'node:http'
import { type AddressInfo, Server as NetServer } from 'node:net'
import type Koa from 'koa'
import { ServiceError } from '../../schemas/errors.ts'
import { Connections } from './connections.ts'
import { HEADER_LIMIT_BYTES, answerUnreadRequests } from './unread-requests.ts'

/** Answers a request, or has it answered otherwise. */
export type AnswerFirst = (
  request: IncomingMessage,
  response: ServerResponse,
  otherwise: RequestListener,
) => void

export interface ServerSettings {
  host: string
  /** 0: any free port. */
  port: number
  /** How long a client may take to send a whole request. */
  requestTimeoutMs: number
  /** How long a connection may lie still, between requests or because its client does not read the answer. */
  idleTimeoutMs: number
  maxConnections: number
}

export interface RunningServer {
  url: string
  /** Stops accepting, waits for the answers under way, and after `timeoutMs` cuts off the connections that are left. */
  close(timeoutMs: number): Promise<void>
}

/**
 * Gives each request to `answerFirst`, and those that it leaves to the application.
 *
 * @throws ServiceError `conflict` where the port is taken, `invalid` where the address cannot be used.
 */
export async function startServer(
  app: Koa,
  settings: ServerSettings,
  answerFirst: AnswerFirst = (request, response, otherwise) => {
    otherwise(request, response)
  },
): Promise<RunningServer> {
  const callback = app.callback()
  const handle: RequestListener = (request, response) => void callback(request, response)
  const server = createServer({
    requestTimeout: settings.requestTimeoutMs,
    headersTimeout: Math.min(10_000, settings.requestTimeoutMs),
    keepAliveTimeout: settings.idleTimeoutMs,
    connectionsCheckingInterval: Math.min(1_000, settings.requestTimeoutMs),
    maxHeaderSize: HEADER_LIMIT_BYTES,
    // The application itself says that a request needs one, so that its answer is a problem.
    requireHostHeader: false,
    // What has no body is not read: a twentieth of a read's processor time.
    optimizeEmptyRequests: true,
  })
  server.timeout = settings.idleTimeoutMs
  server.maxConnections = settings.maxConnections
  Object.assign(server, {
    // Otherwise workers that are all full would hand a connection round and round.
    dropMaxConnection: true,
    // Who sends requests and then ends, as `nc -N` does, gets their answers.
    httpAllowHalfOpen: true,
  })
  const connections = new Connections(server, (request, response) => {
    answerFirst(request, response, handle)
  })
  answerUnreadRequests(server, connections)
  // An expectation other than 100-continue is not met, but is no reason to refuse the request.
  server.on('checkExpectation', (request, response) => server.emit('request', request, response))
  await listen(server, settings)
  const { address, port, family } = server.address() as AddressInfo
  return {
    url: `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`,
    close: (timeoutMs) => close(server, connections, timeoutMs),
  }
}

async function listen(server: Server, { host, port }: ServerSettings): Promise<void> {
  server.listen({ host, port, backlog: 1024 })
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
    // `server.close` would cut off an answer that its client still reads, because Node takes such a connection for idle.
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
