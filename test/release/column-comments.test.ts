// The Parquet files of a release say themselves what their columns mean, in the words of `/docs/data`.
import { parquetMetadata } from 'hyparquet'
import { expect, test } from 'vitest'
import { ENTITIES_FOLDER } from '../../pipeline/release/parts.ts'
import { releasePrefix } from '../../pipeline/store/paths.ts'
import { REFERENCES_PARQUET_PATH } from '../../pipeline/release/files/references.ts'
import { isScoresPath } from '../../pipeline/release/row-groups.ts'
import {
  COMMENTS_KEY,
  type ColumnComments,
  ENTITIES_COMMENTS,
  SCORES_COMMENTS,
  publicComments,
} from '../../schemas/column-comments.ts'
import { PUBLIC_TABLES, type PublicTable } from '../../schemas/public-tables.ts'
import { REFERENCES_COMMENTS } from '../../schemas/references.ts'
import { suiteFolder } from '../support/folder.ts'
import { loggedWorld } from '../support/worlds/logged-world.ts'

/** The columns of a file, and the comments in its metadata. */
function saidBy(bytes: Uint8Array): { columns: string[]; comments: ColumnComments } {
  const { schema, key_value_metadata } = parquetMetadata(new Uint8Array(bytes).buffer)
  const said = key_value_metadata?.find(({ key }) => key === COMMENTS_KEY)?.value
  const comments = JSON.parse(said ?? '{}') as ColumnComments
  return { columns: schema.slice(1).map(({ name }) => name), comments }
}

function commentsFor(path: string): ColumnComments | undefined {
  const inside = path.slice(releasePrefix(1).length)
  if (isScoresPath(inside)) return SCORES_COMMENTS
  if (inside.startsWith(ENTITIES_FOLDER)) return ENTITIES_COMMENTS
  if (inside === REFERENCES_PARQUET_PATH) return REFERENCES_COMMENTS
  const table = /^public\/(\w+)/.exec(inside)?.[1]
  return table === undefined ? undefined : publicComments(table as PublicTable)
}

test('every column has its comment, and no other has one', async () => {
  const { store } = await loggedWorld(await suiteFolder(), false)
  const files = [...store.objects].flatMap(([path, bytes]) => {
    const expected = path.startsWith('releases/') && path.endsWith('.parquet') && commentsFor(path)
    return expected ? [{ expected, ...saidBy(bytes) }] : []
  })
  for (const { columns, comments, expected } of files) {
    expect(comments).toEqual(expected)
    expect(Object.keys(comments).toSorted()).toEqual(columns.toSorted())
  }
  const kinds = new Set(files.map(({ expected }) => JSON.stringify(expected)))
  expect(kinds.size).toBe(3 + Object.keys(PUBLIC_TABLES).length)
})
