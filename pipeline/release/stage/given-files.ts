// Reads the descriptions of files that stages have printed.
import { ServiceError } from '../../../schemas/errors.ts'
import { releasePrefix } from '../../store/paths.ts'
import type { Store } from '../../store/store.ts'
import { TABLE_KINDS } from '../files/kinds.ts'
import { type Input, formatOf, jsonInField, linesIn } from './lines.ts'
import { type StagedFile, parseStagedFile } from './staged-file.ts'

const FILES = formatOf('a file', ['file'], {}, { mayRepeat: true })

/**
 * @throws ServiceError `invalid` for a file that comes twice, and for lines that describe no file.
 */
export async function givenFiles(input: Input): Promise<Map<string, StagedFile>> {
  const files = new Map<string, StagedFile>()
  for await (const lines of linesIn(input, FILES)) {
    for (const [json] of lines) {
      const file = parseStagedFile(jsonInField(json!))
      if (files.has(file.path)) throw new ServiceError('invalid', `${file.path} comes twice`)
      files.set(file.path, file)
    }
  }
  return files
}

/** Returns the paths of the stored files that planning made from the tables, in order. */
export async function plannedFiles(store: Store, release: number): Promise<string[]> {
  const prefix = releasePrefix(release)
  const paths: string[] = []
  for (const place of TABLE_KINDS.flatMap(({ places }) => places)) {
    for await (const { path } of store.list(prefix + place)) paths.push(path.slice(prefix.length))
  }
  return paths.toSorted()
}
