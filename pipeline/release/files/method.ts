// The parameters of a release's method, so that anyone can derive its numbers again.
import { canonical } from '../../proof/canonical.ts'
import type { TableKind } from './kind.ts'

const METHOD_FOLDER = 'method/'
const PARAMETERS_PATH = `${METHOD_FOLDER}parameters.json`

export const METHOD: TableKind = {
  name: 'method',
  places: [METHOD_FOLDER],
  *makeFromTables({ context: { methodology }, provenance }) {
    const bytes = canonical({ ...provenance, parameters: methodology.parameters })
    yield { path: PARAMETERS_PATH, rows: 1, bytes }
  },
  arrange: (staged) => [staged.take(PARAMETERS_PATH)],
}
