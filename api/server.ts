// The listening socket: bounded against slow and many clients, and closed without losing an answer.
import { type RequestListener, type Server, type ServerResponse, createServer } from 'node:http'
import { type AddressInfo, Server as NetServer, type Socket } from 'node:net'
import type Koa from 'koa'
import { ServiceError } from '../schemas/errors.ts'
import { HEADER_LIMIT_BYTES, type OwedAnswers, answerUnreadRequests } from './unread-requests.ts'

export interface ServerSettings {
  host: string
  /** 0: any free port. */
  port: number
  /** How long a client may take to send a whole request. */
  requestTimeoutMs: number
  /** How long a connection may lie still: between requests, or because nobody reads the answer. */
  idleTimeoutMs: number
  maxConnections: number
}

export interface RunningServer {
  url: string
  /** Stops accepting, waits for the answers under way, and after `timeoutMs` cuts off who is left. */
  close(timeoutMs: number): Promise<void>
}

/** @throws ServiceError `conflict` where the port is taken, `invalid` where the address cannot be used. */
export async function startServer(app: Koa, settings: ServerSettings): Promise<RunningServer> {
  const handle = app.callback()
  const server = createServer({
    requestTimeout: settings.requestTimeoutMs,
    headersTimeout: Math.min(10_000, settings.requestTimeoutMs),
    keepAliveTimeout: settings.idleTimeoutMs,
    connectionsCheckingInterval: Math.min(1_000, settings.requestTimeoutMs),
    maxHeaderSize: HEADER_LIMIT_BYTES,
    // The application says itself that a request needs one.
    requireHostHeader: false,
  })
  server.timeout = settings.idleTimeoutMs
  server.maxConnections = settings.maxConnections
  const connections = new Connections(server, (request, response) => void handle(request, response))
  answerUnreadRequests(server, connections)
  // What a client expects beside 100-continue is not met, and no reason to refuse it.
  server.on('checkExpectation', (request, response) => server.emit('request', request, response))
  await listen(server, settings)
  const { address, port, family } = server.address() as AddressInfo
  return {
    url: `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`,
    close: (timeoutMs) => close(server, connections, timeoutMs),
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

/** Requests that a client may send ahead of their answers on one connection. */
const MOST_AHEAD = 100

/**
 * Answers the requests of a connection one after another, since the answers to what a client sends ahead would pile up
 * while it does not read; and knows which connections still owe an answer, to the last byte.
 */
class Connections implements OwedAnswers {
  readonly #owed = new Map<Socket, Set<ServerResponse>>()
  readonly #unreadable = new WeakSet<Socket>()
  #ending = false

  constructor(server: Server, answer: RequestListener) {
    server.on('connection', (socket) => {
      this.#owed.set(socket, new Set())
      socket.once('close', () => this.#owed.delete(socket))
    })
    server.on('request', (request, response) => {
      const { socket } = request
      const owed = this.#owed.get(socket)
      const before = this.of(socket).at(-1)
      owed?.add(response)
      response.once('close', () => {
        this.#owed.get(socket)?.delete(response)
        this.#endFree(socket)
      })
      if (owed && owed.size > MOST_AHEAD) socket.destroy()
      else if (!before) answer(request, response)
      else {
        before.once('close', () => {
          if (!socket.destroyed) answer(request, response)
        })
      }
    })
  }

  of(socket: Socket): readonly ServerResponse[] {
    return [...(this.#owed.get(socket) ?? [])]
  }

  endAfter(socket: Socket): void {
    this.#unreadable.add(socket)
    this.#endFree(socket)
  }

  /** Ends every connection as soon as it owes nothing. */
  end(): void {
    this.#ending = true
    for (const socket of this.#owed.keys()) this.#endFree(socket)
  }

  #endFree(socket: Socket): void {
    const isUnreadable = this.#unreadable.has(socket)
    if (socket.destroyed || (!this.#ending && !isUnreadable)) return
    // The rest of a request that cannot be read is not waited for.
    if (!this.of(socket).some(({ req }) => req.complete || !isUnreadable)) socket.destroySoon()
  }
}

async function close(server: Server, connections: Connections, timeoutMs: number): Promise<void> {
  const closed = new Promise<void>((resolve) => {
    // That of HTTP would cut off an answer that is still being sent, and wait for a connection that falls idle later.
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
