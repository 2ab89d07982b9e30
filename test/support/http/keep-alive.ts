// A connection that stays open, on which one request follows another. It does as little as it can, so that
// whoever measures a server with it measures the server: all answers are received in the same memory, and
// only their heads are read.
import { once } from 'node:events'
import { type Socket, connect } from 'node:net'

const EMPTY_LINE = '\r\n\r\n'
/** No line of a table is a zero alone. */
const LAST_PIECE = Buffer.from('\r\n0\r\n\r\n')
const FIRST_BYTES = 64 * 1024

export class KeepAlive implements Disposable {
  readonly #socket: Socket
  #memory = Buffer.allocUnsafeSlow(FIRST_BYTES)
  #received = 0
  /** How many bytes the answer has, once its head is there. */
  #size: number | undefined
  #asked: PromiseWithResolvers<Buffer> | undefined

  private constructor(host: string, port: number) {
    const onread = {
      buffer: () => this.#memory.subarray(this.#received),
      callback: (received: number) => {
        try {
          this.#take(received)
        } catch (error) {
          this.#socket.destroy(error as Error)
        }
        return true
      },
    }
    this.#socket = connect({ host, port, noDelay: true, onread })
    this.#socket.on('error', (error) => this.#asked?.reject(error))
    this.#socket.on('close', () => this.#asked?.reject(new Error('the server closed a connection')))
  }

  static async open(url: string): Promise<KeepAlive> {
    const { hostname, port } = new URL(url)
    const connection = new KeepAlive(hostname, Number(port))
    await once(connection.#socket, 'connect')
    return connection
  }

  /**
   * Sends a whole request, and resolves to the whole answer, its head included. The one before has to be
   * answered, and is written over.
   *
   * @throws Error if the connection ends first, or for an answer of unknown length.
   */
  ask(request: Uint8Array | string): Promise<Buffer> {
    this.#asked = Promise.withResolvers()
    if (this.#socket.destroyed) this.#asked.reject(new Error('the server closed a connection'))
    else this.#socket.write(request)
    return this.#asked.promise
  }

  [Symbol.dispose](): void {
    this.#socket.destroy()
  }

  #take(received: number): void {
    this.#received += received
    this.#size ??= sizeOf(this.#memory.subarray(0, this.#received))
    if (this.#received < (this.#size ?? Infinity)) {
      if (this.#received === this.#memory.length) this.#grow()
      return
    }
    const answer = this.#memory.subarray(0, this.#received)
    this.#received = 0
    this.#size = undefined
    this.#asked?.resolve(answer)
  }

  #grow(): void {
    const grown = Buffer.allocUnsafeSlow(2 * this.#memory.length)
    this.#memory.copy(grown)
    this.#memory = grown
  }
}

export function statusOf(answer: Buffer): number {
  return Number(answer.toString('latin1', 'HTTP/1.1 '.length, 'HTTP/1.1 200'.length))
}

/** Undefined as long as its head is not there, or the last piece of an answer in pieces. */
function sizeOf(received: Buffer): number | undefined {
  const headEnd = received.indexOf(EMPTY_LINE)
  if (headEnd < 0) return undefined
  const head = received.toString('latin1', 0, headEnd)
  if (/transfer-encoding: chunked/i.test(head)) {
    return received.subarray(-LAST_PIECE.length).equals(LAST_PIECE) ? received.length : undefined
  }
  const length = statusOf(received) === 304 ? '0' : /content-length: (\d+)/i.exec(head)?.[1]
  if (length === undefined) throw new Error(`an answer without a Content-Length: ${head}`)
  return headEnd + EMPTY_LINE.length + Number(length)
}
