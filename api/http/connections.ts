// The open connections and the answers that each still owes. By itself, Node would begin every request that a
// client sends ahead, and keep all answers while the client does not read.
import type { RequestListener, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** Requests that a client may send ahead of their answers on one connection. */
const MOST_AHEAD = 100

interface Connection {
  /** The answers that are not completely sent, in the order of their requests. */
  owed: ServerResponse[]
  isUnreadable: boolean
  /** Whether nothing that follows on the connection may be taken for a request. */
  isAtEnd: boolean
}

/** Answers the requests of a connection in turn, and ends a connection once it owes no answer. */
export class Connections {
  readonly #open = new Map<Socket, Connection>()
  #ending = false

  constructor(server: Server, answer: RequestListener) {
    server.on('connection', (socket) => {
      this.#open.set(socket, { owed: [], isUnreadable: false, isAtEnd: false })
      socket.once('close', () => this.#open.delete(socket))
    })
    server.on('request', (request, response) => {
      const { socket } = request
      const connection = this.#open.get(socket)
      // A request that comes while its connection is ending must do nothing, because nobody would get the
      // answer.
      if (!connection || connection.isAtEnd || !socket.writable) return
      // Bytes after a request to change the protocol may belong to that protocol. Node drops those of the same
      // packet, so that it could take the rest of one request for another.
      if (request.headers.upgrade !== undefined) {
        connection.isAtEnd = true
        response.shouldKeepAlive = false
      }
      const { owed } = connection
      const before = owed.at(-1)
      owed.push(response)
      response.on('close', () => {
        owed.shift()
        this.#endFree(socket, connection)
      })
      if (owed.length > MOST_AHEAD) socket.destroy()
      else if (!before) answer(request, response)
      else {
        before.once('close', () => {
          if (socket.writable) answer(request, response)
        })
      }
    })
  }

  owedTo(socket: Socket): readonly ServerResponse[] {
    return this.#open.get(socket)?.owed ?? []
  }

  /** Ends a connection that has become unreadable, once every request that arrived whole is answered. */
  endUnreadable(socket: Socket): void {
    const connection = this.#open.get(socket)
    if (!connection) return
    connection.isUnreadable = true
    this.#endFree(socket, connection)
  }

  /** Ends every connection as soon as it owes nothing. */
  end(): void {
    this.#ending = true
    for (const [socket, connection] of this.#open) this.#endFree(socket, connection)
  }

  #endFree(socket: Socket, { owed, isUnreadable }: Connection): void {
    if (socket.destroyed || (!this.#ending && !isUnreadable)) return
    // An unreadable connection does not stay open for an incomplete request.
    if (!owed.some(({ req }) => req.complete || !isUnreadable)) socket.destroySoon()
  }
}
