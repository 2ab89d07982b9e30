// A proxy before an S3 server that counts requests by their kind, as a price list tells them apart, and that speaks TLS if it
// is given a certificate, as the servers of production do.
import { once } from 'node:events'
import { type IncomingMessage, type RequestListener, createServer, request } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'
import type { Certificate } from './certificate.ts'

/** LIST is priced as PUT is, and DELETE costs nothing. */
export type RequestKind = 'GET' | 'HEAD' | 'LIST' | 'PUT' | 'COPY' | 'DELETE'

export interface CountingProxy {
  url: string
  /** Returns what was counted since the last call. */
  take: () => Record<RequestKind, number>
}

const nothing = (): Record<RequestKind, number> => ({ GET: 0, HEAD: 0, LIST: 0, PUT: 0, COPY: 0, DELETE: 0 })

function kindOf({ method, url = '', headers }: IncomingMessage): RequestKind {
  if (method === 'DELETE' || (method === 'POST' && /[?&]delete\b/.test(url))) return 'DELETE'
  if (method === 'GET') return /[?&](?:list-type|prefix)=/.test(url) ? 'LIST' : 'GET'
  if (method === 'HEAD') return 'HEAD'
  return headers['x-amz-copy-source'] === undefined ? 'PUT' : 'COPY'
}

/** Passes each request on as it was signed. It runs until the test ends. */
export async function countingProxy(target: string, certificate?: Certificate): Promise<CountingProxy> {
  let counts = nothing()
  const pass: RequestListener = (asked, answer) => {
    counts[kindOf(asked)] += 1
    // The proxy has asked for the body already.
    const { expect: _, ...headers } = asked.headers
    const passed = request(target, { method: asked.method!, path: asked.url!, headers }, (answered) => {
      answer.writeHead(answered.statusCode!, answered.rawHeaders)
      answered.pipe(answer)
    })
    passed.on('error', () => answer.destroy())
    asked.pipe(passed)
  }
  const server = certificate ? createTlsServer(certificate, pass) : createServer(pass)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  const scheme = certificate ? 'https' : 'http'
  return {
    url: `${scheme}://127.0.0.1:${(server.address() as AddressInfo).port}`,
    take: () => {
      const taken = counts
      counts = nothing()
      return taken
    },
  }
}
