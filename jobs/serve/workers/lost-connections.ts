// A connection that is on its way to a worker which ends belongs to nobody: Node keeps it open and unread, so
// that its client would wait until it gives up.
import type { Worker } from 'node:cluster'

/** What Node sends a worker to hand over a connection; the worker answers it with `ack`. */
interface Handover {
  act?: string
  seq?: number
}

type Send = (message: Handover, connection?: { close(): void }, ...more: unknown[]) => boolean

/** Closes the connections that were handed to a worker, and that it had not answered for when it ended. */
export function closeLostConnections({ process }: Worker): void {
  // No process could be started.
  if (!process.channel) return
  const underWay = new Map<number, { close(): void }>()
  const send = process.send.bind(process) as Send
  const observed: Send = (message, connection, ...more) => {
    if (message.act === 'newconn' && connection) underWay.set(message.seq!, connection)
    return send(message, connection, ...more)
  }
  process.send = observed as typeof process.send
  process.on('internalMessage', ({ ack }: { ack?: number }) => {
    if (ack !== undefined) underWay.delete(ack)
  })
  // It comes after the last message has been read. Node emits no `disconnect` while a connection is under
  // way.
  process.once('close', () => {
    for (const connection of underWay.values()) connection.close()
  })
}
