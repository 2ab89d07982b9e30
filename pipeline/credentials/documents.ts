// The documents of credentials: Open Badges 3.0 credentials, their status lists, and the document that names
// the service's keys.
import type { HeldCredential } from '../../schemas/credentials.ts'
import type { Title } from '../../schemas/payloads.ts'
import { callPath, profilePath } from '../../schemas/entity-paths.ts'
import type { EntityType } from '../../schemas/tables.ts'
import type { Environment } from '../../schemas/values.ts'
import type { Unsecured } from './data-integrity.ts'
import { CONTEXTS } from './quads.ts'
import { ENTRIES_PER_LIST, encodedList } from './status-list.ts'
import { DAY_MS } from '../../schemas/values.ts'

export const CREDENTIAL_TYPE = 'application/vc'

/**
 * Increase this with every change of a document, even of its words. Nodes rebuild documents, and a proof
 * holds for one form only.
 */
export const FORM = 3

const DAYS_VALID = 90

/** The facts that all credentials of a release share. */
export interface Issued {
  release: number
  as_of: string
  methodology_version: string
  environment: Environment
  /** The address of the service, without a slash at its end. */
  url: string
}

/** The facts of a credential that its proof covers. */
export type Held = Omit<HeldCredential, 'proof'>

/** The title that earns a credential. */
export const CERTIFIED = 'certified' satisfies Title

const DESCRIPTION =
  'Its errors were smaller than those of the average, and of the median, of all others who had a forecast at the same moments, and ' +
  'than the market’s price where there was one, up to three quarters of each question’s life. Luck is very unlikely as the reason. ' +
  'It says nothing of other kinds of questions, nor of whoever asked and resolved them.'

const SCORED =
  'are scored by the Brier score at the moments at which at least five others stood too, or a market’s price, in the first three ' +
  'quarters of each question’s life. It takes 50 such questions, and for the skill against the others’ average, against their median ' +
  'and, where there are prices, against the market: 0.02 at least, and an interval above 0 that holds after every release at once.'
/** The service itself receives the forecasts of agents; the operator brings in those of people. */
const NARRATIVES: Record<EntityType, string> = {
  agent: `Probabilities for questions with the answer yes or no, submitted before the outcome was known, ${SCORED}`,
  forecaster: `Probabilities for questions with the answer yes or no, brought in by the operator of the service, ${SCORED}`,
}

const OF_SANDBOX = 'The sandbox is for trying things out, and certifies nobody. '

const RESULTS = [
  { key: 'skill', name: 'skill', max: '1' },
  { key: 'lower', name: 'lower end of the interval of skill' },
  { key: 'upper', name: 'upper end of the interval of skill' },
  { key: 'level', name: 'level of the interval' },
  { key: 'questions', name: 'contested questions' },
] as const

/** Returns the did:web of an address (https://w3c-ccg.github.io/did-method-web/). */
export function issuerOf(url: string): string {
  const { host, pathname } = new URL(url)
  const rooms = pathname.split('/').filter((part) => part !== '')
  return ['did:web', host.replace(':', '%3A'), ...rooms].join(':')
}

/** Returns the document that names the valid keys, given as Multikey. */
export function didDocument(issuer: string, multikeys: readonly string[]) {
  const idOf = (multikey: string) => `${issuer}#${multikey}`
  return {
    '@context': ['https://www.w3.org/ns/did/v1', 'https://w3id.org/security/multikey/v1'],
    id: issuer,
    verificationMethod: multikeys.map((multikey) => ({
      id: idOf(multikey),
      type: 'Multikey',
      controller: issuer,
      publicKeyMultibase: multikey,
    })),
    assertionMethod: multikeys.map(idOf),
  }
}

/** Returns the Open Badges credential of a certified entity, without its proof. */
export function credentialOf(issue: Issued, entityType: EntityType, entityId: string, held: Held): Unsecured {
  const { release, as_of, methodology_version, environment, url } = issue
  const { index, name } = held
  // The addresses to which the document refers.
  const entity = url + callPath(entityType, entityId)
  const id = `${entity}/credential#${release}`
  const words = environment === 'sandbox' ? 'Certified forecaster in the sandbox' : 'Certified forecaster'
  const achievement = `${url}/methodology#${CERTIFIED}-${methodology_version}`
  const list = statusListId(url, index)
  const values = {
    skill: held.skill,
    lower: held.skill_interval.lower,
    upper: held.skill_interval.upper,
    level: held.skill_interval.level,
    questions: held.contested_questions,
  }
  return {
    '@context': CONTEXTS,
    id,
    type: ['VerifiableCredential', 'OpenBadgeCredential'],
    issuer: { id: issuerOf(url), type: ['Profile'], name: new URL(url).host, url },
    name: words,
    validFrom: as_of,
    validUntil: validUntil(as_of),
    credentialSubject: {
      id: entity,
      type: ['AchievementSubject'],
      // The schema of Open Badges allows no id here.
      ...(name !== null && {
        identifier: [{ type: 'IdentityObject', hashed: false, identityHash: name, identityType: 'name' }],
      }),
      achievement: {
        id: achievement,
        type: ['Achievement'],
        achievementType: 'Certification',
        name: words,
        description: environment === 'sandbox' ? OF_SANDBOX + DESCRIPTION : DESCRIPTION,
        criteria: { id: `${url}/view/methodology`, narrative: NARRATIVES[entityType] },
        resultDescription: RESULTS.map(({ key, name: label, ...limits }) => ({
          id: `${achievement}-${key}`,
          type: ['ResultDescription'],
          name: label,
          resultType: 'RawScore',
          ...('max' in limits && { valueMax: limits.max }),
        })),
      },
      result: RESULTS.map(({ key }) => ({
        id: `${id}-${key}`,
        type: ['Result'],
        resultDescription: `${achievement}-${key}`,
        value: String(values[key]),
      })),
    },
    evidence: [
      evidence(url + profilePath(entityType, entityId), 'the record in words'),
      evidence(`${entity}/verification`, 'the numbers that decide the title'),
      evidence(
        `${entity}/verification/proof?release=${release}`,
        'the proof that the public log has these numbers',
      ),
    ],
    credentialStatus: {
      id: `${list}#${index % ENTRIES_PER_LIST}`,
      type: 'BitstringStatusListEntry',
      statusPurpose: 'revocation',
      statusListIndex: String(index % ENTRIES_PER_LIST),
      statusListCredential: list,
    },
  }
}

/** Returns a status list. `revoked` are the indices of the revoked credentials among all. */
export function statusListOf({ as_of, url }: Issued, number: number, revoked: readonly number[]): Unsecured {
  const first = number * ENTRIES_PER_LIST
  const id = statusListId(url, first)
  return {
    '@context': CONTEXTS,
    id,
    type: ['VerifiableCredential', 'BitstringStatusListCredential'],
    issuer: issuerOf(url),
    validFrom: as_of,
    validUntil: validUntil(as_of),
    credentialSubject: {
      id: `${id}#list`,
      type: 'BitstringStatusList',
      statusPurpose: 'revocation',
      encodedList: encodedList(revoked.map((index) => index - first)),
    },
  }
}

function statusListId(url: string, index: number): string {
  return `${url}/credentials/status/${Math.floor(index / ENTRIES_PER_LIST)}`
}

function evidence(id: string, name: string) {
  return { id, type: ['Evidence'], name }
}

function validUntil(asOf: string): string {
  return new Date(Date.parse(asOf) + DAYS_VALID * DAY_MS).toISOString()
}
