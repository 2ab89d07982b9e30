// `fvs sandbox`.
import type { Components } from '../components/components.ts'
import type { Report } from '../command-line/output.ts'
import type { Added } from './rows.ts'
import type { SeedOptions } from './seed-options.ts'
import { describeSimulation, seedSandbox } from './seed.ts'
import { takeStep } from './step.ts'

export async function runSeed(components: Components, options: SeedOptions): Promise<Report> {
  const json = await seedSandbox(components, options)
  const what = json.seeded ? 'seeded with' : `has been seeded already, at ${json.started_at}, with`
  const text = `${components.store.url} ${what} ${describeSimulation(json)}: ${describeAdded(json)}`
  return { ok: true, json, text }
}

export async function runStep(components: Components): Promise<Report> {
  const added = await takeStep(components)
  return { ok: true, json: added, text: describeAdded(added) }
}

function describeAdded({ asked, forecasts, resolved }: Added): string {
  return `${asked} questions asked, ${forecasts} forecasts made, ${resolved} questions resolved`
}
