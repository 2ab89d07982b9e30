// The credentials of everyone who has one in a store that `fvs demo` has left.
import { join } from 'node:path'
import { Credentials } from '../../../api/published/credentials.ts'
import { titleOf } from '../../../jobs/demo/highlights.ts'
import type { DemoOutcome } from '../../../jobs/demo/report.ts'
import type { Secured } from '../../../pipeline/credentials/data-integrity.ts'
import { CERTIFIED } from '../../../pipeline/credentials/documents.ts'
import { FileStore } from '../../../pipeline/store/file.ts'

const parsed = (bytes: Uint8Array | undefined) => JSON.parse(Buffer.from(bytes!).toString()) as Secured

export async function demoCredentials(
  { agents, forecasters, release }: Pick<DemoOutcome, 'agents' | 'forecasters' | 'release'>,
  store: string,
) {
  const credentials = new Credentials(await FileStore.begin(join(store, 'sandbox')))
  await credentials.refresh()
  const holders = [
    ...agents.map((entity) => ['agent', entity] as const),
    ...forecasters.map((entity) => ['forecaster', entity] as const),
  ].filter(([, entity]) => titleOf(entity) === CERTIFIED)
  return {
    issuer: credentials.issuer!,
    list: parsed(await credentials.statusList(0)),
    held: await Promise.all(
      holders.map(async ([kind, { id }]) => parsed(await credentials.issuedCredential(release, kind, id))),
    ),
  }
}
