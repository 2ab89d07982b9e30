// A kind of file of a release. Each kind has one file in this folder and one line in `kinds.ts`: they define
// how it is made, staged, checked, kept and served.
import type { ReleaseManifest } from '../../../schemas/manifests.ts'
import type { VoiceRule } from '../../../schemas/payloads.ts'
import type { ScoredTable } from '../../../schemas/tables.ts'
import type { PipelineComponents } from '../../components.ts'
import type { OrderedWorld, ScoringContext } from '../../engine/duckdb-engine.ts'
import type { TableVersion } from '../../tables/delta.ts'
import type { CategoryQuestions } from '../category-boards.ts'
import type { FilesInTurn } from '../files-in-turn.ts'
import type { LargeFile, OutputFile, SignBytes } from '../output.ts'
import type { PartSizes, ShardCount } from '../parts.ts'
import type { Provenance, RankedEntity } from '../payloads.ts'
import type { Input } from '../stage/lines.ts'
import type { Publishing } from '../stage/publishing.ts'
import type { StagedFile } from '../stage/staged-file.ts'
import type { StagedFiles } from '../stage/staged-files.ts'
import type { Before } from '../trees.ts'

export type DerivationContext = ScoringContext & Pick<PipelineComponents, 'store' | 'directory'>

/** The tables of a release, and the release before it. */
export interface TablesOfRelease {
  context: Pick<DerivationContext, 'methodology' | 'database' | 'local' | 'directory' | 'log'>
  provenance: Provenance
  versions: Record<ScoredTable, TableVersion>
  previous: Before
}

/** A release with ordered pairs, before scoring. */
export interface OrderedRelease {
  provenance: Provenance
  shards: readonly ShardCount[]
  partSizes: PartSizes
  writeScores: OrderedWorld['writeScores']
  /** Takes files that DuckDB writes while entities are scored. */
  inTurn: FilesInTurn
}

/** A release after scoring and ranking. */
export interface ScoredRelease extends TablesOfRelease, Omit<OrderedRelease, 'writeScores'> {
  context: DerivationContext
  voiceRule: VoiceRule
  bringsSnapshot: boolean
  /** In the order of their types, and then of their ids. */
  ranked: readonly RankedEntity[]
  categories: readonly CategoryQuestions[]
  sign: SignBytes
}

type Files = Iterable<OutputFile | LargeFile> | AsyncIterable<OutputFile | LargeFile>

interface AnyKind {
  name: string
  /**
   * Its folders inside a release, with a slash at the end, or the name of its file beside the manifest.
   * Anyone may read a file in a folder, as far as a manifest names it, and retention may delete it. A file
   * beside the manifest stays in the store.
   */
  places: readonly string[]
  /** Takes the files of this kind, in the order of the manifest, and checks that all are there. */
  arrange: (staged: StagedFiles) => StagedFile[]
}

/** Files that follow from the tables alone. The plan of a release in stages makes them. */
export interface TableKind extends AnyKind {
  makeFromTables: (tables: TablesOfRelease) => Files
}

/** Files that follow from scored entities and their pairs. */
export interface ScoredKind extends AnyKind {
  /** Whether its files have payloads with signatures. */
  isSigned?: boolean
  /** Begins files that DuckDB writes while entities are scored. */
  begin?: (release: OrderedRelease) => void
  /** Yields each file on demand, in the order of the manifest. */
  make: (release: ScoredRelease) => Files
  /** Reads lines in their order, and puts the files. Yields the lines that describe them. */
  publish: (publishing: Publishing, input: Input) => AsyncIterable<string>
  /** Sizes by which an engine numbers the lines, as members of the plan. */
  sizes?: Readonly<Record<string, number>>
  check?: FileCheck
}

export type FileKind = TableKind | ScoredKind

/** Finds faults that the hashes of a manifest cannot show. */
export interface FileCheck {
  /** Returns a function that finds the faults of one file. The bytes must have the hash in the manifest. */
  files: (manifest: ReleaseManifest) => (path: string, bytes: Uint8Array) => string[]
  /** Returns the faults of the manifest itself. */
  manifest: (manifest: ReleaseManifest) => string[]
}
