// Owners of one release, found by their names.
import { OWNERS_FOLDER } from '../../pipeline/release/files/owners.ts'
import type { ReleaseManifest } from '../../schemas/manifests.ts'
import type { OwnerShard } from '../../schemas/payloads.ts'
import { BoardNames, nameLine } from './board-names.ts'
import type { ReleaseFiles } from './release-files.ts'

/** A counted owner beside its text. */
const COUNTS_BYTES = 64

/** An owner with the numbers of agents. */
export interface CountedOwner {
  ownerId: string
  agents: number
  certified: number
}

interface Owners {
  names: BoardNames
  /** In order of id. */
  counted: CountedOwner[]
}

export class OwnerSearch {
  readonly #files: ReleaseFiles

  constructor(files: ReleaseFiles) {
    this.#files = files
  }

  /** Returns the owners from `from` on, at most `most`, with a text anywhere in their ids. */
  async found(
    manifest: ReleaseManifest,
    text: string,
    { from = 0, most }: { from?: number; most: number },
  ): Promise<{ total: number; owners: CountedOwner[] }> {
    const { names, counted } = await this.#files.made(manifest, 'names of owners', async (its) => {
      const value = await this.#read(its)
      const countsBytes = value.counted.reduce(
        (sum, { ownerId }) => sum + 2 * ownerId.length + COUNTS_BYTES,
        0,
      )
      return { value, sizeBytes: value.names.sizeBytes + countsBytes }
    })
    const places = names.found(text)
    return { total: places.length, owners: places.slice(from, from + most).map((place) => counted[place]!) }
  }

  async #read(manifest: ReleaseManifest): Promise<Owners> {
    const owners = await this.#files.fromEach(manifest, OWNERS_FOLDER, ({ owners: some }: OwnerShard) =>
      some.map(({ payload: { owner_id, agents, certified } }) => {
        return { ownerId: owner_id, agents: agents.length, certified, line: nameLine(owner_id) }
      }),
    )
    return {
      names: new BoardNames(owners.map(({ line }) => line)),
      counted: owners.map(({ line: _line, ...counted }) => counted),
    }
  }
}
