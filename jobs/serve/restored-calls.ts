// Brings the counters of a process that counts by itself to where those before it have come.
import type { Limits } from '../../api/limits/limits.ts'
import { dayOf } from '../../api/limits/calendar.ts'
import { readMonthlyUsage } from '../../pipeline/access/usage.ts'
import type { Components } from '../components/components.ts'

/** Counts what accounts have used of this month, as far as it was written down. */
export async function restoreCalls(components: Components, limits: Limits): Promise<void> {
  const { month } = dayOf(components.now())
  await limits.monthlyCalls.restore(month, await readMonthlyUsage(components, month))
}
