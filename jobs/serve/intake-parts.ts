// The parts that take in registrations and forecasts.
import { randomBytes } from 'node:crypto'
import { CurrentForecasts } from '../../api/current-forecasts/current-forecasts.ts'
import { ForecastHistory } from '../../api/current-forecasts/forecast-history.ts'
import type { Metrics } from '../../api/http/metrics.ts'
import { OperatorCalls } from '../../api/operator/operator-calls.ts'
import type { CurrentRelease } from '../../api/published/current-release.ts'
import { QuestionBook } from '../../api/questions/book.ts'
import { ForecastIds } from '../../pipeline/access/forecast-ids.ts'
import { Idempotency } from '../../pipeline/access/idempotency.ts'
import { releasedVersions } from '../../pipeline/release/state.ts'
import type { OneByOne } from '../../pipeline/store/store.ts'
import { GroupCommit, type GroupCommitComponents } from '../../pipeline/tables/group-commit.ts'
import { Receipts } from '../../pipeline/tables/receipts.ts'
import type { ForecastRow, TableName } from '../../schemas/tables.ts'
import type { Components } from '../components/components.ts'

export function intakeParts(components: Components, metrics: Metrics, current: CurrentRelease) {
  const { settings, own, store, local, registry, openDatabase, now, newId, signers } = components
  // A registration writes up to three objects and waits for a group commit, and that may wait for the one
  // before.
  const leaseMs = 4 * settings.STORE_TIMEOUT_MS + 2 * settings.COMMIT_TIMEOUT_MS
  const undone = () => current.manifest?.undone_imports ?? []
  const questions = new QuestionBook({ store, local, openDatabase, now, undone })
  const currentForecasts = new CurrentForecasts({ store, local, openDatabase, questions, now })
  const receipts = new Receipts(signers, newId)
  // Only forecasts use it: a registration writes other objects besides its row.
  const inbox = store.oneByOne()
  const forecasts = groupCommit('forecasts', { ...components, store: inbox }, metrics, {
    receiptsOf: (rows, id) => receipts.ofBatch(rows as readonly ForecastRow[], id),
    onCommit: ({ path, rows }) => {
      currentForecasts.wrote(path, rows as readonly ForecastRow[])
    },
  })
  return {
    registry,
    idempotency: new Idempotency({ store, newId, now, randomBytes, leaseMs }),
    registrations: groupCommit('agents', components, metrics),
    rationales: groupCommit('rationales', components, metrics),
    mayRegister: own.REGISTRATION,
    store,
    randomBytes,
    forecasts,
    operator: new OperatorCalls({
      ...components,
      forecastIds: new ForecastIds(store, randomBytes),
      releasedVersions: () => releasedVersions(components),
      submit: (...rows) => forecasts.submit(...rows),
      receipts,
      witnessMinutes: components.methodology.parameters.witness_minutes,
    }),
    inbox,
    receipts,
    questions,
    currentForecasts,
    forecastHistory: new ForecastHistory({ store, local, openDatabase }),
  }
}

type CommitComponents = Pick<Components, 'environment' | 'settings' | 'newId' | 'monotonicMs'> & {
  store: Pick<OneByOne, 'putIfAbsent'>
}

/** Builds the measured writer of a table's rows. */
function groupCommit(
  table: TableName,
  { environment, settings, store, newId, monotonicMs }: CommitComponents,
  { commitRows, commitSeconds }: Metrics,
  { onCommit, ...own }: Pick<GroupCommitComponents, 'receiptsOf' | 'onCommit'> = {},
): GroupCommit {
  const limits = { queueLimit: settings.COMMIT_QUEUE_LIMIT, timeoutMs: settings.COMMIT_TIMEOUT_MS }
  return new GroupCommit(table, limits, {
    store,
    newId,
    monotonicMs,
    ...own,
    onCommit: (written) => {
      const { rows, durationMs } = written
      commitRows.observe({ environment }, rows.length)
      commitSeconds.observe({ environment }, durationMs / 1000)
      onCommit?.(written)
    },
  })
}
