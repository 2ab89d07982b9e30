// Closes connections that were on their way to a worker when it ended. Node keeps them open and unread, so
// that their clients would wait until they give up.
import type { Worker } from 'node:cluster'

/** Node's message that hands a connection to a worker, which answers it with `ack`. */
interface Handover {
  act?: string
  seq?: number
}

type Send = (message: Handover, connection?: { close(): void }, ...more: unknown[]) => boolean

/** Closes the connections handed to a worker that it had not acknowledged when it ended. */
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
  // `close` comes after the last message has been read. Node emits no `disconnect` while a connection is
  // under way.
  process.once('close', () => {
    for (const connection of underWay.values()) connection.close()
  })
}
