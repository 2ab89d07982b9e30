// A witness on loopback that speaks c2sp.org/tlog-witness, and one that answers as a test wants it to.
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { type RequestListener, type ServerResponse, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { onTestFinished } from 'vitest'
import { hashOfBase64 } from '../../pipeline/proof/base64.ts'
import { type Checkpoint, parseCheckpoint } from '../../pipeline/proof/checkpoint.ts'
import { verifyConsistency } from '../../pipeline/proof/merkle-proof.ts'
import { signatureLine } from '../../pipeline/proof/note.ts'
import { type SigningKey, signingKeyOf } from '../../pipeline/proof/note-keys.ts'
import { cosignText } from '../../pipeline/proof/note-signatures.ts'
import type { Witness } from '../../pipeline/transparency/witnesses.ts'

export const COSIGNED_AT = new Date('2026-03-01T12:00:00.000Z')

/** A key of its own for each name. */
export function witnessKey(name: string): SigningKey {
  return signingKeyOf(name, 'witness', createHash('sha256').update(name).digest())
}

export interface LoopbackWitness extends Witness {
  /** The bodies of the requests so far. */
  requests: string[]
}

/** Cosigns what continues the last checkpoint that it has cosigned. It stops when the test ends. */
export async function loopbackWitness(name = 'witness.example'): Promise<LoopbackWitness> {
  const key = witnessKey(name)
  let known: Checkpoint | undefined
  return answeringWitness(key, (body, response) => {
    const end = body.indexOf('\n\n')
    const [oldLine, ...path] = body.slice(0, end).split('\n')
    const { checkpoint, note } = parseCheckpoint(body.slice(end + 2))
    const oldSize = Number(/^old (\d+)$/.exec(oldLine!)![1])
    if (oldSize !== (known?.size ?? 0)) return conflict(response, known?.size ?? 0)
    try {
      if (known) verifyConsistency(known, checkpoint, path.map(hashOfBase64))
    } catch {
      response.writeHead(422).end('the path does not hold\n')
      return
    }
    known = checkpoint
    response.end(signatureLine(cosignText(note.text, key, COSIGNED_AT)))
  })
}

/** Answers 409 as a witness that knows so many entries. */
export function conflict(response: ServerResponse, size: number): void {
  response.writeHead(409, { 'content-type': 'text/x.tlog.size' }).end(`${size}\n`)
}

/** Answers every request in one way. It stops when the test ends. */
export async function answeringWitness(
  { verifier }: SigningKey,
  answer: (body: string, response: ServerResponse) => void,
): Promise<LoopbackWitness> {
  const requests: string[] = []
  const url = await listening((request, response) => {
    void text(request).then((body) => {
      requests.push(body)
      if (request.method === 'POST' && request.url === '/log/add-checkpoint') answer(body, response)
      else response.writeHead(404).end()
    })
  })
  return { key: verifier, url: `${url}/log`, requests }
}

/** The URL of a server on a free port. It stops when the test ends. */
export async function listening(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** The URL of a server that was there and is not. */
export async function closedUrl(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return `http://127.0.0.1:${port}`
}
