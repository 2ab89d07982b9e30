// Sends requests one after another on one connection, without waiting for answers, and receives all that comes back.
import { connect } from 'node:net'

const LAST = 'GET /livez HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'

/** Resolves to everything received, as bytes in Latin-1, once the service has closed the connection. */
export function talk(url: string, requests: readonly string[]): Promise<string> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve) => {
    const socket = connect({ host: hostname, port: Number(port) })
    let received = ''
    socket.setEncoding('latin1')
    socket.on('data', (text: string) => {
      received += text
    })
    // `close` follows an error.
    socket.on('error', () => undefined)
    socket.on('close', () => {
      resolve(received)
    })
    socket.write(requests.join('') + LAST, 'latin1')
  })
}
