// The listening socket: bounded against slow and many clients, and closed without losing an answer.
import { type Server, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type Koa from 'koa'
import { ServiceError } from '../schemas/errors.ts'

export interface ServerSettings {
  host: string
  /** 0: any free port. */
  port: number
  /** How long a client may take to send a whole request. */
  requestTimeoutMs: number
  maxConnections: number
}

export interface RunningServer {
  url: string
  /** Stops accepting, waits for the answers under way, and after `timeoutMs` cuts off who is left. */
  close(timeoutMs: number): Promise<void>
}

const KEEP_ALIVE_MS = 65_000

/** @throws ServiceError `conflict` where the port is taken, `invalid` where the address cannot be used. */
export async function startServer(app: Koa, settings: ServerSettings): Promise<RunningServer> {
  const server = createServer(
    {
      requestTimeout: settings.requestTimeoutMs,
      headersTimeout: Math.min(10_000, settings.requestTimeoutMs),
      keepAliveTimeout: KEEP_ALIVE_MS,
      connectionsCheckingInterval: Math.min(1_000, settings.requestTimeoutMs),
      maxHeaderSize: 16 * 1024,
    },
    app.callback(),
  )
  server.maxConnections = settings.maxConnections
  await listen(server, settings)
  const { address, port, family } = server.address() as AddressInfo
  return {
    url: `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`,
    close: (timeoutMs) => close(server, timeoutMs),
  }
}

function listen(server: Server, { host, port }: ServerSettings): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => {
      const taken = cause.code === 'EADDRINUSE'
      reject(
        new ServiceError(
          taken ? 'conflict' : 'invalid',
          taken
            ? `port ${port} on ${host} is taken; set PORT`
            : `cannot listen on ${host}:${port} (${cause.code})`,
          { cause },
        ),
      )
    })
    server.listen({ host, port, backlog: 1024 }, resolve)
  })
}

async function close(server: Server, timeoutMs: number): Promise<void> {
  const closed = new Promise<void>((resolve) => {
    server.close(() => {
      resolve()
    })
  })
  const cutOff = setTimeout(() => {
    server.closeAllConnections()
  }, timeoutMs)
  await closed
  clearTimeout(cutOff)
}
