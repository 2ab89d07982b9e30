// Limits how many connections are open at once, of one address and in all. A new one takes the place of the
// one that has been idle for longest, so that nobody keeps the service from others by holding connections.
import type { Networks } from '../limits/addresses.ts'

export interface RoomLimits {
  maxConnections: number
  /** Those of an IPv6 network have as many times that as their calls. */
  maxConnectionsOfAddress: number
}

/** An open connection. */
export interface Occupant {
  networks: Networks
  isIdle: () => boolean
}

/** The name of the group that all connections are in. */
const ALL = ''

export class ConnectionRoom<T extends Occupant> {
  readonly #limits: RoomLimits
  /** The connections of each network, in the order in which they became idle. */
  readonly #groups = new Map<string, Set<T>>()

  constructor(limits: RoomLimits) {
    this.#limits = limits
  }

  /**
   * Takes in a new connection. Returns the idle one that has to end for it, if any. Returns `full` if none is
   * idle: then the new one is not taken in.
   */
  enter(occupant: T): T | 'full' | undefined {
    const ended = this.#oneTooMany(occupant)
    if (ended === 'full') return ended
    if (ended) this.leave(ended)
    for (const name of networkNames(occupant)) {
      const group = this.#groups.get(name) ?? new Set()
      this.#groups.set(name, group.add(occupant))
    }
    return ended
  }

  /** Notes that a connection has become idle. */
  rest(occupant: T): void {
    for (const name of networkNames(occupant)) {
      const group = this.#groups.get(name)
      if (group?.delete(occupant)) group.add(occupant)
    }
  }

  leave(occupant: T): void {
    for (const name of networkNames(occupant)) {
      const group = this.#groups.get(name)
      group?.delete(occupant)
      if (group?.size === 0) this.#groups.delete(name)
    }
  }

  /** The one that ends makes room in the wider networks too, because it is in them. */
  #oneTooMany({ networks }: T): T | 'full' | undefined {
    const { maxConnections, maxConnectionsOfAddress } = this.#limits
    const narrowestFirst = networks
      .map(({ name, times }) => ({ name, most: times * maxConnectionsOfAddress }))
      .toReversed()
    narrowestFirst.push({ name: ALL, most: maxConnections })
    for (const { name, most } of narrowestFirst) {
      const group = this.#groups.get(name)
      if (group && group.size >= most) return firstIdle(group) ?? 'full'
    }
    return undefined
  }
}

function networkNames({ networks }: Occupant): string[] {
  return [ALL, ...networks.map(({ name }) => name)]
}

function firstIdle<T extends Occupant>(group: ReadonlySet<T>): T | undefined {
  for (const occupant of group) if (occupant.isIdle()) return occupant
  return undefined
}
