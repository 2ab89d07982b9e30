// `fvs keys`.
import { Option } from 'commander'
import { namedKeyId, publicId } from '../../pipeline/access/api-key.ts'
import { type KeyQuota, type KeyRecord, isInForce } from '../../pipeline/access/registry.ts'
import { ServiceError } from '../../schemas/errors.ts'
import { KEY_KINDS, type OperatorScope, OPERATOR_SCOPES, type Tier, TIERS } from '../../schemas/tiers.ts'
import type { Components } from '../components/components.ts'
import { KEEP_IT, type Report } from '../command-line/output.ts'
import { parseOwner } from '../command-line/owner-option.ts'
import { parseScopes, wholeNumber } from '../command-line/arguments.ts'
import { type StoreOptions, onStore, program, storeCommand } from '../command-line/program.ts'

export function addKeys(): void {
  const keys = program
    .command('keys')
    .description('Create, list, rotate and revoke API keys, and set their tiers.')

  storeCommand('create', 'Create a key and print it, once.', keys)
    .requiredOption('--owner <name>', 'whom the key is for')
    .addOption(
      new Option('--kind <name>', "a client of the verification calls, or an operator's program")
        .choices(KEY_KINDS)
        .default('client'),
    )
    .option('--scopes <names>', "what an operator's key may write, by commas", parseScopes)
    .addOption(new Option('--tier <name>', 'how many calls the key has').choices(TIERS).default('free'))
    .option('--monthly-calls <number>', 'the quota of an enterprise key', wholeNumber)
    .action((options: StoreOptions & KeyOptions) =>
      onStore(options, 'begins', (components) => createKey(components, options)),
    )

  storeCommand('list', 'List the public ids of keys, never the keys themselves.', keys).action(
    (options: StoreOptions) => onStore(options, 'reads', (components) => listKeys(components)),
  )

  storeCommand('set-tier', 'Give a key another tier; every node counts by it within ten seconds.', keys)
    .argument('<key_id>', 'the public id, with or without fv_live_ or fv_test_')
    .addOption(new Option('--tier <name>', 'how many calls the key has').choices(TIERS).makeOptionMandatory())
    .option('--monthly-calls <number>', 'the quota of an enterprise key', wholeNumber)
    .action((keyId: string, options: StoreOptions & Pick<KeyOptions, 'tier' | 'monthlyCalls'>) =>
      onStore(options, 'writes', (components) => setTier(components, keyId, options)),
    )

  storeCommand('revoke', 'Revoke a key; every node refuses it within ten seconds.', keys)
    .argument('<key_id>', 'the public id, with or without fv_live_ or fv_test_')
    .action((keyId: string, options: StoreOptions) =>
      onStore(options, 'writes', (components) => revokeKey(components, keyId)),
    )

  storeCommand('rotate', 'Replace a key by a new one; the old one works for 24 hours more.', keys)
    .argument('<key_id>', 'the public id of the old key, with or without its prefix')
    .action((keyId: string, options: StoreOptions) =>
      onStore(options, 'writes', (components) => rotateKey(components, keyId)),
    )
}

export interface KeyOptions {
  owner: string
  /** A client's if left out. */
  kind?: (typeof KEY_KINDS)[number]
  scopes?: readonly OperatorScope[]
  tier: Tier
  monthlyCalls?: number
}

export async function createKey(
  { registry, environment, now }: Components,
  { owner: given, kind = 'client', scopes, tier, monthlyCalls }: KeyOptions,
): Promise<Report> {
  const owner = parseOwner(given)
  if ((kind === 'operator') !== (scopes !== undefined)) {
    throw new ServiceError(
      'invalid',
      kind === 'operator'
        ? `a key of the kind operator needs --scopes, of ${OPERATOR_SCOPES.join(', ')}`
        : '--scopes is for keys of the kind operator',
    )
  }
  if (scopes !== undefined) {
    const key = await registry.createOperatorKey(owner, now(), scopes)
    const json = { api_key: key, key_id: publicId(key), environment, owner, kind, scopes }
    return { ok: true, json, text: `${key}\n${KEEP_IT}` }
  }
  const quota = quotaOf(tier, monthlyCalls)
  const key = await registry.createClientKey(owner, now(), quota)
  const json = { api_key: key, key_id: publicId(key), environment, owner, ...quota }
  return { ok: true, json, text: `${key}\n${KEEP_IT}` }
}

/**
 * Gives a key another tier. Takes its id with or without the prefix. Every node counts by the new quota
 * within ten seconds.
 */
export async function setTier(
  { registry }: Components,
  named: string,
  { tier, monthlyCalls }: Pick<KeyOptions, 'tier' | 'monthlyCalls'>,
): Promise<Report> {
  const keyId = namedKeyId(named, registry.environment)
  const record = await registry.setQuota(keyId, quotaOf(tier, monthlyCalls))
  const quota = record.monthly_calls === null ? '' : `, ${record.monthly_calls} calls a month`
  return { ok: true, json: record, text: `${keyId} of ${whose(record)} has the tier ${record.tier}${quota}` }
}

function quotaOf(tier: Tier, monthlyCalls: number | undefined): KeyQuota {
  const isEnterprise = tier === 'enterprise'
  if (isEnterprise && monthlyCalls !== undefined) return { tier, monthly_calls: monthlyCalls }
  if (!isEnterprise && monthlyCalls === undefined) return { tier, monthly_calls: null }
  throw new ServiceError(
    'invalid',
    isEnterprise
      ? 'an enterprise key needs --monthly-calls, its quota'
      : `--monthly-calls is for enterprise keys; ${tier} ones all have the same quota`,
  )
}

export async function listKeys({ registry, now }: Components): Promise<Report> {
  const records = await Array.fromAsync(registry.listKeys())
  const order = ({ created_at, key_id }: KeyRecord) => `${created_at} ${key_id}`
  records.sort((a, b) => (order(a) < order(b) ? -1 : 1))
  const lines = records.map((record) => {
    const { key_id, created_at, tier, monthly_calls } = record
    const quota = monthly_calls === null ? tier : `${tier} (${monthly_calls} calls a month)`
    return `${key_id}  ${created_at}  ${stateOf(record, now())}  ${quota}  ${whose(record)}`
  })
  return { ok: true, json: { keys: records }, text: lines.length === 0 ? 'no keys' : lines.join('\n') }
}

function stateOf(record: KeyRecord, now: Date): string {
  if (record.revoked_at !== null) return `revoked ${record.revoked_at}`
  if (record.expires_at === null) return 'in force'
  return isInForce(record, now)
    ? `in force until ${record.expires_at}`
    : `replaced, ended ${record.expires_at}`
}

function whose(record: KeyRecord): string {
  switch (record.kind) {
    case 'agent':
      return `agent ${record.agent_id}`
    case 'client':
      return `client ${record.owner}`
    case 'operator':
      return `operator ${record.owner} (${record.scopes.join(', ')})`
  }
}

/** Takes the id with or without the prefix of the key. */
export async function revokeKey({ registry, now }: Components, named: string): Promise<Report> {
  const record = await registry.revokeKey(namedKeyId(named, registry.environment), now())
  return { ok: true, json: record, text: `${record.key_id} was revoked at ${record.revoked_at}` }
}

/** Takes the id with or without the prefix of the key. */
export async function rotateKey({ registry, now }: Components, named: string): Promise<Report> {
  const keyId = namedKeyId(named, registry.environment)
  const { key, replaced } = await registry.rotateKey(keyId, now())
  const ends = replaced.revoked_at === null ? 'works until' : 'stays revoked, since'
  return {
    ok: true,
    json: { api_key: key.key, key_id: key.id, replaces: keyId, replaced_works_until: replaced.expires_at },
    text: `${key.key}\n${KEEP_IT} The key ${keyId} of ${whose(replaced)} ${ends} ${replaced.expires_at}.`,
  }
}
