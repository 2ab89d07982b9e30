// Writes a credential of this service as canonical N-Quads (RDFC-1.0), which is what its signature is over: as
// `pipeline/credentials/quads.ts` does, to which a test holds it.
globalThis.credentialQuads = (() => {
  const VC = 'https://www.w3.org/2018/credentials#'
  const OB = 'https://purl.imsglobal.org/spec/vc/ob/vocab.html#'
  const STATUS = 'https://www.w3.org/ns/credentials/status#'
  const SECURITY = 'https://w3id.org/security#'
  const SCHEMA = 'https://schema.org/'
  const XSD = 'http://www.w3.org/2001/XMLSchema#'
  // The context of Open Badges has this address for it.
  const OB_XSD = 'https://www.w3.org/2001/XMLSchema#'
  const BOOLEAN = `${OB_XSD}boolean`
  const RDF_TYPE = 'http://www.w3.org/1999/02/22-rdf-syntax-ns#type'
  const CONTEXTS = [
    'https://www.w3.org/ns/credentials/v2',
    'https://purl.imsglobal.org/spec/ob/v3p0/context-3.0.3.json',
  ]

  const table = (rows, entryOf) =>
    Object.assign(
      Object.create(null),
      ...rows.flatMap(([names, ...row]) =>
        names.split(' ').map((name) => ({ [name]: entryOf(name, ...row) })),
      ),
    )
  const TYPES = table(
    [
      ['VerifiableCredential', VC],
      ['OpenBadgeCredential Profile AchievementSubject IdentityObject Achievement', OB],
      ['ResultDescription Result Evidence', OB],
      ['BitstringStatusListEntry BitstringStatusListCredential BitstringStatusList', STATUS],
      ['DataIntegrityProof', SECURITY],
    ],
    (name, vocabulary) => vocabulary + name,
  )
  // Members with their vocabularies, and how a text is written: as it is, as the id of an object, or with a datatype.
  const MEMBERS = table(
    [
      ['name description value', SCHEMA, 'text'],
      ['url', SCHEMA, `${OB_XSD}anyURI`],
      ['issuer credentialSubject credentialStatus evidence', VC, 'id'],
      ['validFrom validUntil', VC, `${XSD}dateTime`],
      ['achievement identifier result', OB, 'id'],
      ['achievementType narrative identityHash identityType resultType valueMax', OB, 'text'],
      ['hashed', OB, BOOLEAN],
      ['resultDescription', OB, `${OB_XSD}anyURI`],
      ['criteria', OB, 'id', 'Criteria'],
      ['statusPurpose statusListIndex', STATUS, 'text'],
      ['statusListCredential', STATUS, 'id'],
      ['encodedList', STATUS, `${SECURITY}multibase`],
      ['created', 'http://purl.org/dc/terms/', `${XSD}dateTime`],
      ['cryptosuite', SECURITY, `${SECURITY}cryptosuiteString`],
      ['proofPurpose verificationMethod', SECURITY, 'id'],
    ],
    (name, vocabulary, form, term = name) => ({ iri: vocabulary + term, form }),
  )

  const listOf = (values) => (Array.isArray(values) ? values : [values])
  const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value)
  const shown = (value) => `“${(JSON.stringify(value) ?? 'nothing').slice(0, 80)}”`
  const stranger = (kind, value) =>
    new Error(`It has the ${kind} ${shown(value)}, which no credential of this service has.`)

  // The members that may have several values.
  const LISTS = ['type', 'identifier', 'resultDescription', 'result', 'evidence']

  // The canonical N-Quads of a document in which at most one object has no id (RDFC-1.0). Other forms of the same quads are
  // refused, so that the page finds what was signed where it looks.
  function quadsOf({ '@context': context, ...root }) {
    if (JSON.stringify(context) !== JSON.stringify(CONTEXTS)) throw stranger('@context', context)
    const quads = []
    addObject(quads, root)
    quads.sort((one, other) => (one < other ? -1 : 1))
    const again = quads.find((quad, at) => quad === quads[at - 1])
    if (again !== undefined) throw new Error('It says the same twice, as no credential of this service does.')
    return quads.join('')
  }

  // Adds the quads of an object, and returns its term.
  function addObject(quads, { id, type = [], ...content }) {
    const subject = id === undefined ? blankIn(quads) : iriOf(id)
    const before = quads.length
    for (const name of valuesOf('type', type)) {
      if (typeof name !== 'string' || !TYPES[name]) throw stranger('type', name)
      quads.push(`${subject} <${RDF_TYPE}> <${TYPES[name]}> .\n`)
    }
    for (const [name, values] of Object.entries(content)) {
      const member = MEMBERS[name]
      if (!member) throw stranger('member', name)
      for (const value of valuesOf(name, values))
        quads.push(`${subject} <${member.iri}> ${termOf(quads, value, member.form)} .\n`)
    }
    // Its id alone would say the same.
    if (quads.length === before) throw stranger('object', id ?? {})
    return subject
  }

  // The label of the only object without an id.
  function blankIn(quads) {
    if (quads.hasBlank)
      throw new Error('Several of its parts have no id, as in no credential of this service.')
    quads.hasBlank = true
    return '_:c14n0'
  }

  function valuesOf(name, values) {
    if (Array.isArray(values) && !LISTS.includes(name)) throw stranger('list', name)
    return listOf(values)
  }

  function termOf(quads, value, form) {
    if (Array.isArray(value)) throw stranger('value', value)
    if (isObject(value)) return addObject(quads, value)
    if (form === 'id') return iriOf(value === 'assertionMethod' ? `${SECURITY}assertionMethod` : value)
    const isOfForm = typeof value === (form === BOOLEAN ? 'boolean' : 'string')
    if (!isOfForm || /[\p{Cc}\p{Cs}]/u.test(String(value))) throw stranger('value', value)
    return JSON.stringify(String(value)) + (form === 'text' ? '' : `^^<${form}>`)
  }

  function iriOf(id) {
    if (typeof id === 'string' && /^[a-z][a-z0-9+.-]*:[^\p{Cc}\p{Cs} <>"{}|^`\\]+$/iu.test(id))
      return `<${id}>`
    throw stranger('id', id)
  }

  return { quadsOf, listOf, isObject, shown }
})()
