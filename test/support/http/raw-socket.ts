// A connection to the service on which a test sends any text: half requests, broken ones, or nothing at all.
import { once } from 'node:events'
import { type Socket, connect } from 'node:net'
import { onTestFinished } from 'vitest'

export class RawSocket {
  readonly socket: Socket
  #received = ''
  #waiting: { wanted: RegExp; resolve: (text: string) => void; reject: (error: Error) => void }[] = []
  /** Resolves to everything received, once the connection has closed, even abruptly. */
  readonly closed: Promise<string>

  private constructor(socket: Socket) {
    this.socket = socket
    socket.setEncoding('latin1')
    socket.on('data', (text: string) => {
      this.#received += text
      this.#look()
    })
    // `close` follows an error.
    socket.on('error', () => undefined)
    this.closed = new Promise((resolve) => {
      socket.on('close', () => {
        for (const { wanted, reject } of this.#waiting) {
          reject(new Error(`closed before it sent ${wanted}; received ${JSON.stringify(this.#received)}`))
        }
        resolve(this.#received)
      })
    })
  }

  /** Call it inside a test. */
  static async open(url: string): Promise<RawSocket> {
    const { hostname, port } = new URL(url)
    const socket = connect({ host: hostname, port: Number(port) })
    onTestFinished(() => void socket.destroy())
    const raw = new RawSocket(socket)
    await once(socket, 'connect')
    return raw
  }

  send(...lines: string[]): void {
    this.socket.write(lines.join('\r\n'), 'latin1')
  }

  /** Resolves to everything received, once it contains `wanted`. */
  received(wanted: RegExp): Promise<string> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ wanted, resolve, reject })
      this.#look()
    })
  }

  #look(): void {
    this.#waiting = this.#waiting.filter(({ wanted, resolve }) => {
      if (!wanted.test(this.#received)) return true
      resolve(this.#received)
      return false
    })
  }
}
