// Sends requests one after another on one connection, without waiting for answers, and receives all that
// comes back.
import { connect } from 'node:net'

const LAST = 'GET /livez HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'

/**
 * Resolves to everything received, as bytes in Latin-1, once the service has closed the connection: after a
 * last request that asks for it, or because the client `hangsUp`, which ends its side as one that gave up
 * does.
 */
export function talk(
  url: string,
  requests: readonly string[],
  { hangsUp = false }: { hangsUp?: boolean } = {},
): Promise<string> {
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
    if (hangsUp) socket.end(requests.join(''), 'latin1')
    else socket.write(requests.join('') + LAST, 'latin1')
  })
}
