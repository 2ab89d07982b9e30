// The files of all stages of a release. Each kind of file takes and checks its own.
import { ServiceError } from '../../../schemas/errors.ts'
import type { PartSizes } from '../parts.ts'
import type { StagedFile } from './staged-file.ts'
import type { FieldOfRelease } from './tally.ts'

export class StagedFiles {
  readonly field: FieldOfRelease
  readonly partSizes: PartSizes
  readonly #rest: Map<string, StagedFile>
  readonly #planned: readonly string[]
  readonly #taken: StagedFile[] = []

  /**
   * @param planned the paths of the stored files that follow from the tables alone, in order.
   */
  constructor(
    files: ReadonlyMap<string, StagedFile>,
    planned: readonly string[],
    field: FieldOfRelease,
    partSizes: PartSizes,
  ) {
    this.#rest = new Map(files)
    this.#planned = planned
    this.field = field
    this.partSizes = partSizes
  }

  /** Takes a file. @throws ServiceError `invalid` if it is missing or not as expected. */
  take(path: string, expected: Partial<StagedFile> = {}): StagedFile {
    const file = this.#rest.get(path)
    if (!file) throw new ServiceError('invalid', `${path} is missing`)
    this.#rest.delete(path)
    this.#taken.push(file)
    for (const [name, value] of Object.entries(expected)) {
      this.assertEqual(path, name, file[name as keyof StagedFile], value)
    }
    return file
  }

  /** Takes the stored files of a place that planning has made. */
  takePlanned(place: string): StagedFile[] {
    return this.#planned.filter((path) => path.startsWith(place)).map((path) => this.take(path))
  }

  /** Takes the files numbered from 0 on. */
  takeNumbered(pathOf: (number: number) => string): StagedFile[] {
    const files: StagedFile[] = []
    while (this.#rest.has(pathOf(files.length))) files.push(this.take(pathOf(files.length)))
    return files
  }

  /** Returns the paths in a folder that are not taken yet, in order. */
  pathsIn(folder: string): string[] {
    return [...this.#rest.keys()].filter((path) => path.startsWith(folder)).toSorted()
  }

  /** Returns the files of a folder that are taken. */
  takenIn(folder: string): StagedFile[] {
    return this.#taken.filter(({ path }) => path.startsWith(folder))
  }

  /** Returns the sum of a count over the files that are taken, in all folders or in one. */
  sum(count: string, folder = ''): number {
    return this.takenIn(folder).reduce((sum, { counts }) => sum + (counts?.[count] ?? 0), 0)
  }

  /** @throws ServiceError `invalid` unless both are equal. */
  assertEqual(path: string, what: string, found: unknown, expected: unknown): void {
    if (found === expected) return
    const texts = [found, expected].map((value) => JSON.stringify(value))
    throw new ServiceError('invalid', `${path}: ${what} is ${texts[0]}, and not ${texts[1]}`)
  }

  /** @throws ServiceError `invalid` for a file that no kind of file has taken. */
  assertAllTaken(): void {
    for (const path of this.#rest.keys()) {
      throw new ServiceError('invalid', `${path} is no file of the release`)
    }
  }
}

/** Divides `count` things into runs of at most `size`, and returns the sizes of the runs. */
export function runsOfSize(count: number, size: number): number[] {
  return Array.from({ length: Math.ceil(count / size) }, (_, index) => Math.min(size, count - index * size))
}

/** Returns the sum of the rows of files. */
export function stagedRows(files: readonly StagedFile[]): number {
  return files.reduce((sum, { rows }) => sum + rows, 0)
}
