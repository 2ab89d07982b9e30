// The open connections and the answers that each still owes. By itself, Node would begin every request that a
// client sends ahead, and keep all answers while the client does not read.
import type { RequestListener, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Addresses } from '../limits/addresses.ts'
import { ConnectionRoom, type Occupant, type RoomLimits } from './connection-room.ts'

/** Requests that a client may send ahead of their answers on one connection. */
const MOST_AHEAD = 100

interface Connection extends Occupant {
  socket: Socket
  /** The answers that are not completely sent, in the order of their requests. */
  owed: ServerResponse[]
  isUnreadable: boolean
}

/** Answers the requests of a connection in turn, and ends a connection once it owes no answer. */
export class Connections {
  readonly #open = new Map<Socket, Connection>()
  readonly #room: ConnectionRoom<Connection>
  readonly #networksOf: Addresses['ofConnection']
  #ending = false

  constructor(
    server: Server,
    limits: RoomLimits,
    networksOf: Addresses['ofConnection'],
    answer: RequestListener,
  ) {
    this.#room = new ConnectionRoom(limits)
    this.#networksOf = networksOf
    server.on('connection', (socket) => {
      this.#accept(socket)
    })
    server.on('request', (request, response) => {
      const { socket } = request
      const connection = this.#open.get(socket)
      // A request that comes while its connection is ending must do nothing, because nobody would get the
      // answer.
      if (!connection || !socket.writable) return
      // Bytes after a request to change the protocol may belong to that protocol. Node drops those of its
      // packet, and could then take the rest of a request for another one.
      if (request.headers.upgrade !== undefined) response.shouldKeepAlive = false
      const { owed } = connection
      const before = owed.at(-1)
      owed.push(response)
      response.on('close', () => {
        owed.shift()
        if (owed.length === 0) this.#room.rest(connection)
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

  #accept(socket: Socket): void {
    const owed: ServerResponse[] = []
    const connection: Connection = {
      socket,
      owed,
      isUnreadable: false,
      networks: this.#networksOf(socket),
      isIdle: () => owed.length === 0,
    }
    const ended = this.#room.enter(connection)
    if (ended === 'full') {
      socket.destroy()
      return
    }
    ended?.socket.destroySoon()
    this.#open.set(socket, connection)
    socket.once('close', () => {
      this.#open.delete(socket)
      this.#room.leave(connection)
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
