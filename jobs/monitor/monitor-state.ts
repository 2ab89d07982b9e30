// The facts of a record that `fvs monitor` compares with those of its last look.
import { z } from 'zod'
import { encoded } from '../../pipeline/proof/canonical.ts'
import { jsonOf } from '../command-line/read-place.ts'

/** The members of a verification of any version that a monitor compares. */
const facts = z.looseObject({
  release: z.int().min(1),
  as_of: z.string(),
  certification: z.string().optional(),
  badge: z.string().optional(),
  retired_at: z.string().nullish(),
})
export type Facts = z.infer<typeof facts>

/** Returns undefined for what is no verification. */
export function factsOf(record: string): Facts | undefined {
  return facts.safeParse(jsonOf(encoded(record))).data
}
