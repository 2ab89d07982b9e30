// Writes the documents of this service as canonical N-Quads (RDFC-1.0), the input of eddsa-rdfc-2022. At most
// one object of a document may lack an id. So no names of blank nodes have to be found, and one table of
// members replaces a JSON-LD processor. Tests compare it with jsonld and rdf-canonize. Pages run it too, so
// it must not import anything of Node.
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

/** The contexts that define the members. Another context may define them differently. */
export const CONTEXTS = [
  'https://www.w3.org/ns/credentials/v2',
  'https://purl.imsglobal.org/spec/ob/v3p0/context-3.0.3.json',
]

/** How a text is written: as it is, as the id of another object, or with a datatype. */
type Form = 'text' | 'id' | { datatype: string }

const BOOLEAN: Form = { datatype: `${OB_XSD}boolean` }

const forNames = <T>(names: readonly string[], valueOf: (name: string) => T) =>
  Object.fromEntries(names.map((name) => [name, valueOf(name)]))
const types = (vocabulary: string, ...names: string[]) => forNames(names, (name) => vocabulary + name)
const members = (vocabulary: string, form: Form, ...names: string[]) =>
  forNames(names, (name) => ({ iri: vocabulary + name, form }))

const TERM_TYPES: Record<string, string> = {
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
  ...members(OB, 'text', 'achievementType', 'narrative', 'resultType', 'valueMax'),
  ...members(OB, 'text', 'identityHash', 'identityType'),
  ...members(OB, BOOLEAN, 'hashed'),
  // In an achievement it holds descriptions, in a result the address of a description.
  ...members(OB, { datatype: `${OB_XSD}anyURI` }, 'resultDescription'),
  criteria: { iri: `${OB}Criteria`, form: 'id' },
  ...members(STATUS, 'text', 'statusPurpose', 'statusListIndex'),
  ...members(STATUS, 'id', 'statusListCredential'),
  ...members(STATUS, { datatype: `${SECURITY}multibase` }, 'encodedList'),
  ...members('http://purl.org/dc/terms/', { datatype: `${XSD}dateTime` }, 'created'),
  ...members(SECURITY, { datatype: `${SECURITY}cryptosuiteString` }, 'cryptosuite'),
  ...members(SECURITY, 'id', 'proofPurpose', 'verificationMethod'),
}

/** The members that may have several values. */
const LISTS = new Set(['type', 'identifier', 'resultDescription', 'result', 'evidence'])

/** The label that RDFC-1.0 gives to the only object without an id. */
const ONLY_BLANK = '_:c14n0'

/**
 * Returns the canonical N-Quads of a document. One object may lack an id: the document itself, as in the
 * options of a proof, or one in it.
 *
 * Refuses other forms of the same quads, so that a reader finds the signed values where it looks: a list of
 * one value where no list belongs, an object with an id alone, a value that stands twice.
 *
 * @throws ServiceError `invalid` for a document of another form than this service makes.
 */
export function quadsOf(document: object): string {
  const { '@context': context, ...root } = document as Record<string, unknown>
  if (JSON.stringify(context) !== JSON.stringify(CONTEXTS)) {
    const message = `@context must be ${CONTEXTS.join(' and ')}`
    throw new FormError('stranger', message, { what: '@context', value: context })
  }
  const quads = new Quads()
  addObject(quads, root)
  return quads.sorted().join('')
}

/** The reason that a document is not of this service. Pages word it themselves. */
class FormError extends ServiceError {
  readonly form: 'stranger' | 'blank' | 'twice'
  /** The part that documents of this service never have. */
  readonly what: string | undefined
  readonly value: unknown

  constructor(form: FormError['form'], message: string, part: { what?: string; value?: unknown } = {}) {
    super('invalid', message)
    this.form = form
    this.what = part.what
    this.value = part.value
  }
}

class Quads {
  readonly #lines: string[] = []
  #hasBlank = false

  get size(): number {
    return this.#lines.length
  }

  add(line: string): void {
    this.#lines.push(line)
  }

  /** Returns the term of the only object without an id. */
  blank(): string {
    if (this.#hasBlank) throw new FormError('blank', 'only one object of a credential may have no id')
    this.#hasBlank = true
    return ONLY_BLANK
  }

  sorted(): string[] {
    const lines = this.#lines.toSorted()
    if (lines.some((line, at) => line === lines[at - 1])) {
      throw new FormError('twice', 'a credential must not say the same twice')
    }
    return lines
  }
}

/** Adds the quads of an object, and returns its term. */
function addObject(quads: Quads, { id, type = [], ...content }: Record<string, unknown>): string {
  const subject = id === undefined ? quads.blank() : iriOf(id)
  const before = quads.size
  for (const name of listOf('type', type)) {
    const iri = typeof name === 'string' && Object.hasOwn(TERM_TYPES, name) ? TERM_TYPES[name] : undefined
    if (iri === undefined) throw unknown('type', name)
    quads.add(`${subject} <${RDF_TYPE}> <${iri}> .\n`)
  }
  for (const [name, values] of Object.entries(content)) {
    const member = Object.hasOwn(MEMBERS, name) ? MEMBERS[name]! : undefined
    if (!member) throw unknown('member', name)
    for (const value of listOf(name, values))
      quads.add(`${subject} <${member.iri}> ${termOf(quads, value, member.form)} .\n`)
  }
  // An object without quads is the same as its id alone.
  if (quads.size === before) throw unknown('object', id ?? {})
  return subject
}

/** Returns the term of a value, and adds the quads of an object. */
function termOf(quads: Quads, value: unknown, form: Form): string {
  if (Array.isArray(value)) throw unknown('value', value)
  if (typeof value === 'object' && value !== null) return addObject(quads, value as Record<string, unknown>)
  if (form === 'id') return iriOf(value === 'assertionMethod' ? `${SECURITY}assertionMethod` : value)
  if (typeof value !== (form === BOOLEAN ? 'boolean' : 'string')) throw unknown('value', value)
  const text = String(value)
  // Texts have no control characters, so that JSON escapes all that N-Quads do. Half of a surrogate pair
  // would be hashed as U+FFFD is.
  if (/[\p{Cc}\p{Cs}]/u.test(text)) throw unknown('value', value)
  const literal = JSON.stringify(text)
  return form === 'text' ? literal : `${literal}^^<${form.datatype}>`
}

function listOf(name: string, values: unknown): readonly unknown[] {
  if (!Array.isArray(values)) return [values]
  if (!LISTS.has(name)) throw unknown('list', name)
  return values
}

/** An absolute address without a character that could end it in N-Quads. */
const IRI = /^[a-z][a-z0-9+.-]*:[^\p{Cc}\p{Cs} <>"{}|^`\\]+$/iu

function iriOf(id: unknown): string {
  if (typeof id === 'string' && IRI.test(id)) return `<${id}>`
  throw unknown('id', id)
}

function unknown(what: string, value: unknown): FormError {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? 'nothing')
  const message = `no credential of this service has the ${what} ${quoted(text)}`
  return new FormError('stranger', message, { what, value })
}
