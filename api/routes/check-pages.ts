// Pages on which anyone checks what they were shown: one field for everything, and the page behind a code.
import { z } from 'zod'
import { type CheckCode, codeText, parseCheckCode } from '../../pipeline/proof/check-code.ts'
import { ServiceError } from '../../schemas/errors.ts'
import { checkForm } from '../../schemas/requests.ts'
import { callPath, profilePath } from '../../schemas/entity-paths.ts'
import type { EntityType } from '../../schemas/tables.ts'
import type { ApiContext } from '../http/context.ts'
import { erasureIn } from '../http/not-published.ts'
import type { Route } from '../http/route.ts'
import { type Said, checkPath, checkedCodePage, thinnedCodePage } from '../pages/check-code.ts'
import type { Html } from '../pages/html.ts'
import { pastedIn } from '../pages/pasted.ts'
import { type Payloads, questionsOf } from '../pages/profile/subject.ts'
import { linkTo } from '../pages/site.ts'
import { verifyPage } from '../pages/verify.ts'
import { entityOf } from '../published/check-codes.ts'
import { correctedSince } from '../published/corrected-since.ts'
import { type People, nameOfEntity } from '../published/people.ts'
import type { Release } from '../published/release-payloads.ts'
import type { Asker } from '../turns.ts'
import { namedPath, releasedEntity } from './pasted-path.ts'
import { pageRoute } from './page-route.ts'
import { callsFor } from './profile-pages.ts'

const verify = pageRoute({
  path: '/view/verify',
  operationId: 'showCheck',
  summary: 'The check of anything that this service published',
  query: checkForm,
  render: async ({ query: { q }, asker }, context) => {
    const { site } = context
    if (q === undefined) return verifyPage(site)
    const found = await destinationOf(context, q, asker)
    return 'to' in found ? found : { status: found.status, page: verifyPage(site, { q, said: found.said }) }
  },
})

type Destination = { to: string } | { status: number; said: string }

const RECORD =
  'That is the text of a record. Your browser checks it in this page, which needs JavaScript and HTTPS; the commands below do the same.'

async function destinationOf(context: ApiContext, q: string, asker: Asker): Promise<Destination> {
  const { site, registry } = context
  const pasted = pastedIn(site, q)
  switch (pasted.kind) {
    case 'code':
      return { to: linkTo({ ...site, environment: pasted.environment }, checkPath(codeText(pasted.code)!)) }
    case 'entity':
    case 'question':
    case 'owner': {
      const path = linkTo({ ...site, environment: pasted.environment }, namedPath(pasted))
      return { to: pasted.kind === 'entity' ? `${path}#check` : path }
    }
    case 'record':
      return { status: 200, said: RECORD }
    case 'unknown':
      return { status: 404, said: pasted.why }
    case 'id': {
      const { id } = pasted
      const released = await releasedEntity(context, id, asker)
      if (released) return { to: `${linkTo(site, profilePath(released.entityType, id))}#check` }
      if (await registry.findAgent(id)) return { to: linkTo(site, profilePath('agent', id)) }
      return { status: 404, said: `No agent and no forecaster here has the id ${id}.` }
    }
  }
}

const check = pageRoute({
  path: '/view/check/{code}',
  operationId: 'showCode',
  summary: 'What a release said of an entity, by a code',
  params: z.strictObject({ code: z.string().min(1).max(64) }),
  needsQuestions: true,
  render: async ({ params, asker }, context) => {
    const code = parseCheckCode(params.code)
    if (!code) throw new ServiceError('notFound', noCode(params.code))
    const current = context.releases.current?.release ?? 0
    if (code.release > current) throw noSuch(code, `the newest release is ${current}`)
    const release = await context.earlier.of(context.releases, code.release)
    const entityId = await entityOf(release, code).catch((error: unknown) => {
      if (error instanceof ServiceError && error.type === 'release-thinned') return null
      throw error
    })
    if (entityId === null) return thinned(context, code)
    if (entityId === undefined) throw noSuch(code, `release ${code.release} published nothing under it`)
    const key = `${checkPath(codeText(code)!)} ${current} ${context.publicLog.isThere}`
    const found = await context.releases.find(code.entityType, entityId, 'verification', asker)
    const questions = found ? questionsOf(found.payload as Payloads['verification']) : 0
    if (!context.pages.has(key)) await asker.countMore(callsFor(questions))
    return context.pages.get(key, () => checked(context, release, code, entityId))
  },
})

export const checkPages: Route[] = [verify, check]

function noCode(text: string): string {
  return `${JSON.stringify(text)} is no code: one is the number of a release and twelve letters and digits, such as 21-4F9A-2C81-B7D3`
}

function noSuch(code: CheckCode, because: string): ServiceError {
  return new ServiceError(
    'notFound',
    `nothing was published under the code ${codeText(code)}: ${because}. Compare each letter with what you were shown; if it is ` +
      'the same there, that is not from this service. The sandbox has codes of its own',
  )
}

interface Record {
  said: Said
  asOf: string
  retiredAt: string | null
  name: string | null
  bytes: Uint8Array
}

async function recordOf(
  people: People,
  release: Release,
  entityType: EntityType,
  id: string,
): Promise<Record | undefined> {
  const [verification, rankings, profile] = await Promise.all(
    (['verification', 'rankings', 'profile'] as const).map((kind) => release.find(entityType, id, kind)),
  )
  if (!verification || !rankings || !profile) return undefined
  const record = verification.payload as Payloads['verification']
  const name = nameOfEntity(people, entityType, id, profile.payload)
  const { rank, rank_interval } = rankings.payload as Payloads['rankings']
  return {
    said: { ...record, rank, rank_interval },
    asOf: record.as_of,
    retiredAt: 'retired_at' in record ? (record.retired_at ?? null) : null,
    name,
    bytes: verification.bytes,
  }
}

async function checked(context: ApiContext, release: Release, code: CheckCode, id: string): Promise<Html> {
  const { site, releases, publicLog, people } = context
  const { entityType } = code
  const then = (await recordOf(people, release, entityType, id))!
  const now = await recordOf(people, releases, entityType, id)
  const corrected = now
    ? await correctedSince(context, entityType, id, code.release)
    : { questionIds: [], isWhole: true }
  const hasProof = publicLog.isThere && release.current?.trees !== undefined
  return checkedCodePage({
    site,
    code: codeText(code)!,
    entityType,
    entityId: id,
    // A name that the operator has hidden since is not shown again.
    name: now?.name ?? null,
    wasNamedOtherwise: now !== undefined && now.name !== then.name,
    said: then.said,
    asOf: then.asOf,
    now,
    corrected,
    recordText: new TextDecoder().decode(then.bytes),
    proofPath: hasProof
      ? `${callPath(entityType, id)}/verification/proof?release=${code.release}`
      : undefined,
  })
}

async function thinned(context: ApiContext, code: CheckCode): Promise<Html> {
  const { site, releases, earlier, history, people } = context
  const { release, entityType, position } = code
  const { as_of: asOf } = await earlier.manifest(release)
  const thinnedAt = (await earlier.thinnedAt(release))!
  const row = await history.rowAt(asOf.slice(0, 10), release, entityType, position)
  const entityId = row && ('agent_id' in row ? row.agent_id : row.user_id)
  const isErased = entityId !== undefined && erasureIn(releases.current, entityType, entityId) !== undefined
  const profile = entityId === undefined ? undefined : await releases.find(entityType, entityId, 'profile')
  const name = profile && nameOfEntity(people, entityType, entityId!, profile.payload)
  return thinnedCodePage({
    site,
    code: codeText(code)!,
    entityType,
    release,
    asOf,
    thinnedAt,
    kept:
      row && entityId !== undefined && !isErased ? { entityId, name: name ?? null, said: row } : undefined,
  })
}
