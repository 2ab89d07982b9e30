// `fvs keys`.
import type { KeyRecord } from '../pipeline/registry.ts'
import { ServiceError } from '../schemas/errors.ts'
import type { Components } from './components.ts'
import type { Report } from './output.ts'

export async function createKey({ registry, now }: Components, owner: string): Promise<Report> {
  if (owner.trim() === '' || owner.length > 200) {
    throw new ServiceError('invalid', `--owner is ${JSON.stringify(owner)}; it must have 1 to 200 characters`)
  }
  const key = await registry.createClientKey(owner, now())
  return { ok: true, json: { api_key: key, owner }, text: `${key}\nKeep it: it is not shown again.` }
}

export async function listKeys({ registry }: Components): Promise<Report> {
  const records: KeyRecord[] = []
  for await (const record of registry.listKeys()) records.push(record)
  records.sort((a, b) =>
    a.created_at < b.created_at ? -1 : a.created_at > b.created_at ? 1 : a.key_id < b.key_id ? -1 : 1,
  )
  const lines = records.map((record) => {
    const whose = record.kind === 'agent' ? `agent ${record.agent_id}` : `client ${record.owner}`
    const state = record.revoked_at === null ? 'in force' : `revoked ${record.revoked_at}`
    return `${record.key_id}  ${record.created_at}  ${state}  ${whose}`
  })
  return { ok: true, json: { keys: records }, text: lines.length === 0 ? 'no keys' : lines.join('\n') }
}

export async function revokeKey({ registry, now }: Components, keyId: string): Promise<Report> {
  const record = await registry.revokeKey(keyId, now())
  return { ok: true, json: record, text: `${record.key_id} was revoked at ${record.revoked_at}` }
}
