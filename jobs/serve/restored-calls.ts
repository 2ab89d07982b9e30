// Restores the counters of a process that counts by itself to the last state of earlier processes.
import type { Limits } from '../../api/limits/limits.ts'
import { dayOf } from '../../api/limits/calendar.ts'
import { readMonthlyUsage } from '../../pipeline/access/usage.ts'
import type { Components } from '../components/components.ts'

/** Restores the calls that accounts have made this month, as far as they were written down. */
export async function restoreCalls(components: Components, limits: Limits): Promise<void> {
  const { month } = dayOf(components.now())
  await limits.monthlyCalls.restore(month, await readMonthlyUsage(components, month))
}
