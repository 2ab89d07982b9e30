// Writes the documents of this service as canonical N-Quads (RDFC-1.0), which is what eddsa-rdfc-2022 signs.
// Only documents in which every object has an id: then no blank node has to be named, and one table of
// members takes the place of a JSON-LD processor. Tests hold it to jsonld and rdf-canonize.
import { ServiceError } from '../../schemas/errors.ts'
import { quoted } from '../proof/quoted.ts'

const RDF_TYPE = 'http://www.w3.org/1999/02/22-rdf-syntax-ns#type'
const XSD = 'http://www.w3.org/2001/XMLSchema#'
/** The context of Open Badges has this address for it. */
const OB_XSD = 'https://www.w3.org/2001/XMLSchema#'
const VC = 'https://www.w3.org/2018/credentials#'
const OB = 'https://purl.imsglobal.org/spec/vc/ob/vocab.html#'
const STATUS = 'https://www.w3.org/ns/credentials/status#'
const SECURITY = 'https://w3id.org/security#'
const SCHEMA = 'https://schema.org/'

/** The contexts that say what the members mean; another context may say something else. */
export const CONTEXTS = [
  'https://www.w3.org/ns/credentials/v2',
  'https://purl.imsglobal.org/spec/ob/v3p0/context-3.0.3.json',
]

/** How a text is written: as it is, as the id of another object, or with a datatype. */
type Form = 'text' | 'id' | { datatype: string }

const named = <T>(names: readonly string[], of: (name: string) => T) =>
  Object.fromEntries(names.map((name) => [name, of(name)]))
const types = (vocabulary: string, ...names: string[]) => named(names, (name) => vocabulary + name)
const members = (vocabulary: string, form: Form, ...names: string[]) =>
  named(names, (name) => ({ iri: vocabulary + name, form }))

const TYPES: Record<string, string> = {
  ...types(VC, 'VerifiableCredential'),
  ...types(OB, 'OpenBadgeCredential', 'Profile', 'AchievementSubject', 'IdentityObject', 'Achievement'),
  ...types(OB, 'ResultDescription', 'Result', 'Evidence'),
  ...types(STATUS, 'BitstringStatusListEntry', 'BitstringStatusListCredential', 'BitstringStatusList'),
  ...types(SECURITY, 'DataIntegrityProof'),
}

const MEMBERS: Record<string, { iri: string; form: Form }> = {
  ...members(SCHEMA, 'text', 'name', 'description', 'value'),
  ...members(SCHEMA, { datatype: `${OB_XSD}anyURI` }, 'url'),
  ...members(VC, 'id', 'issuer', 'credentialSubject', 'credentialStatus', 'evidence'),
  ...members(VC, { datatype: `${XSD}dateTime` }, 'validFrom', 'validUntil'),
  ...members(OB, 'id', 'achievement', 'identifier', 'result'),
  ...members(
    OB,
    'text',
    'achievementType',
    'narrative',
    'identityHash',
    'identityType',
    'resultType',
    'valueMax',
  ),
  ...members(OB, { datatype: `${OB_XSD}boolean` }, 'hashed'),
  // In an achievement it holds descriptions, in a result the address of one.
  ...members(OB, { datatype: `${OB_XSD}anyURI` }, 'resultDescription'),
  criteria: { iri: `${OB}Criteria`, form: 'id' },
  ...members(STATUS, 'text', 'statusPurpose', 'statusListIndex'),
  ...members(STATUS, 'id', 'statusListCredential'),
  ...members(STATUS, { datatype: `${SECURITY}multibase` }, 'encodedList'),
  ...members('http://purl.org/dc/terms/', { datatype: `${XSD}dateTime` }, 'created'),
  ...members(SECURITY, { datatype: `${SECURITY}cryptosuiteString` }, 'cryptosuite'),
  ...members(SECURITY, 'id', 'proofPurpose', 'verificationMethod'),
}

/** The label that RDFC-1.0 gives to the only object without an id. */
const ONLY_BLANK = '_:c14n0'

/**
 * Returns the canonical N-Quads of a document. The document itself may lack an id, as the options of a proof
 * do; every object in it must have one.
 *
 * @throws ServiceError `invalid` for a document of another form than this service makes.
 */
export function quadsOf(document: object): string {
  const { '@context': context, ...root } = document as Record<string, unknown>
  if (JSON.stringify(context) !== JSON.stringify(CONTEXTS)) {
    throw new ServiceError('invalid', `@context must be ${CONTEXTS.join(' and ')}`)
  }
  const quads = new Set<string>()
  addObject(quads, root['id'] === undefined ? ONLY_BLANK : iriOf(root['id']), root)
  return [...quads].sort().join('')
}

function addObject(
  quads: Set<string>,
  subject: string,
  { id: _id, type = [], ...content }: Record<string, unknown>,
) {
  for (const name of listOf(type)) {
    const iri = Object.hasOwn(TYPES, String(name)) ? TYPES[String(name)] : undefined
    if (iri === undefined) throw unknown('type', name)
    quads.add(`${subject} <${RDF_TYPE}> <${iri}> .\n`)
  }
  for (const [name, values] of Object.entries(content)) {
    const member = Object.hasOwn(MEMBERS, name) ? MEMBERS[name]! : undefined
    if (!member) throw unknown('member', name)
    for (const value of listOf(values))
      quads.add(`${subject} <${member.iri}> ${termOf(quads, value, member.form)} .\n`)
  }
}

/** Returns the term of a value, and adds the quads of an object. */
function termOf(quads: Set<string>, value: unknown, form: Form): string {
  if (typeof value === 'object' && value !== null) {
    const object = value as Record<string, unknown>
    const subject = iriOf(object['id'])
    addObject(quads, subject, object)
    return subject
  }
  if (form === 'id') return iriOf(value === 'assertionMethod' ? `${SECURITY}assertionMethod` : value)
  if (typeof value !== 'string' && typeof value !== 'boolean') throw unknown('value', value)
  // Of all that N-Quads escape, texts of credentials have quotes and backslashes alone, as JSON escapes them.
  if (/\p{Cc}/u.test(String(value))) throw unknown('value', value)
  const literal = JSON.stringify(String(value))
  return form === 'text' ? literal : `${literal}^^<${form.datatype}>`
}

function listOf(values: unknown): readonly unknown[] {
  return Array.isArray(values) ? values : [values]
}

/** An absolute address without a character that could end it in N-Quads. */
const IRI = /^[a-z][a-z0-9+.-]*:[^\p{Cc} <>"{}|^`\\]+$/iu

function iriOf(id: unknown): string {
  if (typeof id === 'string' && IRI.test(id)) return `<${id}>`
  throw unknown('id', id)
}

function unknown(what: string, value: unknown): ServiceError {
  const text = quoted(JSON.stringify(value) ?? 'nothing')
  return new ServiceError('invalid', `no credential of this service has the ${what} ${text}`)
}
