// The names that agents ask for. The next release writes them to the table of agents, many by one statement.
import { z } from 'zod'
import { ServiceError } from '../../schemas/errors.ts'
import { name } from '../../schemas/names.ts'
import { publishedUuid } from '../../schemas/values.ts'
import {
  RENAMING_PREFIX,
  moderationPrefix,
  renamingAgent,
  renamingInstant,
  renamingPath,
} from '../store/paths.ts'
import { readRecord, recordBytes } from '../store/records.ts'
import { type Store, holdsAny } from '../store/store.ts'

/** The most names of an agent that wait for one release, so that no release has to read many. */
const MOST_WAITING = 5

const renaming = z.strictObject({ agent_id: publishedUuid, name })

/** The names that wait, and the notes of them. */
export interface Waiting {
  names: Map<string, string>
  paths: string[]
}

export class Renames {
  readonly #store: Store

  constructor(store: Store) {
    this.#store = store
  }

  /**
   * Asks the next release to give an agent another name. Of several the last one counts.
   *
   * @throws ServiceError `forbidden` for an agent that the operator has renamed or hidden, `conflict` if too
   *   many names wait.
   */
  async ask(agentId: string, wanted: string, now: Date): Promise<void> {
    if (await this.#isModerated(agentId)) {
      throw new ServiceError('forbidden', NAMED_BY_OPERATOR, { type: 'named-by-operator' })
    }
    const waiting = await Array.fromAsync(this.#store.list(`${RENAMING_PREFIX}${agentId}-`))
    if (waiting.length >= MOST_WAITING) {
      throw new ServiceError('conflict', RENAMED_OFTEN, { type: 'renamed-often' })
    }
    // The clock of another node may be ahead, and the last name that is asked for counts.
    const lastMs = Math.max(...waiting.map(({ path }) => renamingInstant(path)))
    for (let atMs = Math.max(now.getTime(), lastMs + 1); ; atMs++) {
      const path = renamingPath(agentId, atMs)
      const bytes = recordBytes(path, { agent_id: agentId, name: wanted })
      if (await this.#store.putIfAbsent(path, bytes)) return
    }
  }

  isAnyWaiting(): Promise<boolean> {
    return holdsAny(this.#store, RENAMING_PREFIX)
  }

  /** Returns the names that wait, without those of agents that the operator has renamed or hidden since. */
  async waiting(): Promise<Waiting> {
    for (;;) {
      const found = await this.#read()
      if (!found) continue
      const { names } = found
      for (const agentId of names.keys()) if (await this.#isModerated(agentId)) names.delete(agentId)
      return found
    }
  }

  /** Returns undefined if another run takes notes away meanwhile, since only an older name may be left. */
  async #read(): Promise<Waiting | undefined> {
    const found: Waiting = { names: new Map(), paths: [] }
    // The paths of an agent come in the order in which the names were asked for.
    for await (const { path } of this.#store.list(RENAMING_PREFIX)) {
      const agentId = renamingAgent(path)
      if (agentId === undefined) continue
      const record = await readRecord(this.#store, path, renaming)
      if (!record) return undefined
      found.names.set(agentId, record.name)
      found.paths.push(path)
    }
    return found
  }

  /** Notes that the table of agents has the names. */
  async told({ paths }: Waiting): Promise<void> {
    for (const path of paths) await this.#store.delete(path)
  }

  #isModerated(agentId: string): Promise<boolean> {
    return holdsAny(this.#store, moderationPrefix(agentId))
  }
}

const NAMED_BY_OPERATOR = 'the operator has renamed or hidden this agent: ask the operator for another name'
export const RENAMED_OFTEN = `${MOST_WAITING} names of this agent wait for the next release: ask for another one after it`
