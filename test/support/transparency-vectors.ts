// The worked values of the public log in test/vectors/transparency; each file names its source.
import { readFileSync } from 'node:fs'

/** Name, leaf index, tree size, leaf hash, root, path, whether it must be refused. */
type InclusionVector = [string, number, number, string | null, string | null, (string | null)[], boolean]
/** Name, sizes, roots, path, whether it must be refused. */
type ConsistencyVector = [string, number, number, string | null, string | null, (string | null)[], boolean]

interface KeyPair {
  private: string
  vkey: string
}

interface Vectors {
  merkle: { inclusion: InclusionVector[]; consistency: ConsistencyVector[] }
  trees: {
    roots: Record<string, string>
    /** Size, index or old size, path. */
    inclusion: [number, number, string[]][]
    consistency: [number, number, string[]][]
  }
  c2sp: {
    notes: { name: string; vkey: string; private?: string; note: string }[]
    tile_paths: { index: number; path: string }[]
    tiles_of_size: Record<string, { level: number; full: number; partial_width: number }[]>
    checkpoint_text: {
      origin: string
      size: number
      root: string
      text: string
      cosigned_at: number
      cosigned_message: string
    }
  }
  fvs: {
    seeds: Record<'log' | 'log_two' | 'witness', string>
    keys: Record<'log' | 'log_two' | 'witness', KeyPair>
    receipts: { name: string; body: string; receipt: string; header: string }[]
    forecast_proof: {
      body: string
      statements: string[]
      checkpoint_text: string
      cosignature: { time: number; line: string }
      proof: string
    }
  }
  log700: {
    vkey: string
    entries: Record<string, string>
    root_after: Record<string, string>
    checkpoint_700: string
    payload_proofs: { release: number; body: string; proof: string }[]
  }
}

const FOLDER = new URL('../vectors/transparency/', import.meta.url)

export function vectors<Name extends keyof Vectors>(name: Name): Vectors[Name] {
  return JSON.parse(readFileSync(new URL(`${name}.json`, FOLDER), 'utf8')) as Vectors[Name]
}
