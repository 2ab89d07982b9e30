// Checks an Open Badges credential of this service in the page: its signature, its dates, that it was not revoked, that the public
// log has the record behind it, and that both say the same. It asks nobody but this service.
import { CredentialFault, heldBy } from '../../../pipeline/credentials/check.ts'
import { encoded } from '../../../pipeline/proof/canonical.ts'
import { stepsOf, verifyWith } from '../../../pipeline/proof/reader.ts'

export const must = (found, why) => {
  if (!found) throw new Error(why)
  return found
}

export const certificates = (() => {
  const listOf = (values) => (Array.isArray(values) ? values : [values])
  const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value)
  const shown = (value) => `“${(JSON.stringify(value) ?? 'nothing').slice(0, 80)}”`

  const FORMS = {
    twice: () => 'It says the same twice, as no credential of this service does.',
    blank: () => 'Several of its parts have no id, as in no credential of this service.',
    stranger: ({ what, value }) =>
      `It has the ${what} ${shown(value)}, which no credential of this service has.`,
  }

  const NAMES = { credential: 'the credential', list: 'the list of revoked credentials' }
  const atStart = (words) => words[0].toUpperCase() + words.slice(1)

  // The words of each fault; `path` is that of the issuer's document.
  const FAULTS = {
    'no proof': (_fault, name) => `${atStart(name)} has no list of one proof of eddsa-rdfc-2022.`,
    'unknown key': ({ key }, _name, path) => `The key ${shown(key)} is not, or no longer, in ${path}.`,
    'other form': ({ error }) => FORMS[error.form]?.(error) ?? atStart(`${error.message}.`),
    forged: (_fault, name) =>
      `The signature does not hold: ${name} was changed, or another key has signed it.`,
    'no dates': (_fault, name) => `${atStart(name)} has no dates.`,
    'too early': ({ from }, name) =>
      `${atStart(name)} is not valid before ${from}: is the clock of this computer right?`,
    'ran out': ({ until }, name) =>
      `${atStart(name)} ran out at ${until}. The service has a new one if the title still holds.`,
    'no status': () => 'It does not say where its revocation would be.',
    'another list': () => 'The list of revoked credentials is not the one that it should be.',
    'no place': ({ index }) => `The list of revoked credentials has no place ${index}.`,
    revoked: ({ since }) =>
      `It was revoked: since ${since} at the latest the service says something else of its holder.`,
  }

  const HELD = {
    signed: ({ key }, { did, path }) =>
      `The signature holds: it is by the key ${key.publicKeyMultibase}, which ${did.id} names in ${path}.`,
    'in time': ({ from, until }) => `It is valid from ${from} until ${until}.`,
    'not revoked': ({ since }) =>
      `It was not revoked, says the list of ${since}, which the same issuer has signed.`,
  }

  async function standing(credential, issuer, local, step) {
    const { did, path } = issuer
    const keys = did.verificationMethod.filter(({ id }) => did.assertionMethod.includes(id))
    const documentAt = async (address) =>
      objectIn(await bytesAt(local(address)), 'The list of revoked credentials is no list.')
    // oxlint-disable-next-line no-restricted-properties -- It is the reader's clock that counts.
    const now = new Date(Date.now())
    const circumstances = { issuer: { id: did.id, url: credential.issuer.url, keys }, now, documentAt }
    try {
      for await (const held of heldBy(credential, circumstances)) step(HELD[held.kind](held, issuer))
    } catch (error) {
      if (!(error instanceof CredentialFault)) throw error
      const { fault } = error
      throw new Error(FAULTS[fault.kind](fault, NAMES[fault.document], path), { cause: error })
    }
  }

  // The parts of the answers and files of others, which may be anything.
  function objectIn(bytes, otherwise) {
    let value
    try {
      value = JSON.parse(new TextDecoder().decode(bytes))
    } catch {
      // The error below says it.
    }
    return must(isObject(value) && value, otherwise)
  }

  // The parser of the browser would put a style of its own into a picture that is broken, which the policy of pages refuses.
  function textInSvg(text) {
    const [, content] = must(
      /<openbadges:credential\b[^>]*>([^]*?)<\/openbadges:credential>/.exec(text),
      'This picture carries no credential.',
    )
    const parts = [...content.matchAll(/<!\[CDATA\[([^]*?)\]\]>/g)]
    return parts
      .map(([, part]) => part)
      .join('')
      .trim()
  }

  // The JSON of a credential in a file, which may be a picture.
  function textIn(bytes) {
    const text = new TextDecoder().decode(bytes).trim()
    return text.startsWith('<') ? textInSvg(text) : text
  }

  async function answerOf(path) {
    const bounds = { redirect: 'error', cache: 'no-cache', signal: AbortSignal.timeout(10_000) }
    const answer = await fetch(path, bounds).catch(() => undefined)
    return must(answer, `The service did not answer for ${path}.`)
  }

  async function bytesOfAnswer(answer, path) {
    if (answer.ok) return new Uint8Array(await answer.arrayBuffer())
    const { detail = path } = await answer.json().catch(() => ({}))
    throw new Error(`The service answered ${answer.status}: ${detail}`)
  }

  const bytesAt = async (path) => bytesOfAnswer(await answerOf(path), path)

  // The bytes at a path; undefined where the service has none.
  async function bytesIfThere(path) {
    const answer = await answerOf(path)
    return answer.status === 404 ? undefined : bytesOfAnswer(answer, path)
  }

  // The path of a link to a credential or to a badge.
  function pathOfLink(link) {
    const url = must(URL.canParse(link) && new URL(link), `${shown(link)} is no link.`)
    must(
      url.origin === location.origin,
      `This page asks nobody but ${location.origin}. Open ${url.origin}/view/verify, or paste the credential itself.`,
    )
    return url.pathname
  }

  // Where else a credential can be checked.
  function placeOf(issuer) {
    const web = /^did:web:([^:]+)((?::[^:]+)*)$/.exec(issuer)
    const place = web ? `https://${decodeURIComponent(web[1])}${web[2].replaceAll(':', '/')}` : issuer
    return place.startsWith('https://') ? `at ${place} or ` : ''
  }

  // The document of the issuer, and the path under which this service has what it issues.
  async function issuerOf({ issuer }, paths) {
    const id = isObject(issuer) ? issuer.id : issuer
    must(typeof id === 'string', 'It does not say who issued it.')
    const own = []
    for (const path of paths) {
      const bytes = await bytesIfThere(path)
      const did = bytes && objectIn(bytes, `${path} is no document of an issuer.`)
      if (did?.id === id) return { did, mount: path.replace(/\/did\.json$/, ''), path }
      if (did) own.push(did.id)
    }
    throw new Error(
      `It is by another issuer, ${id}, so nothing of it was checked. This service ` +
        `${own.length > 0 ? `is ${own.join(' and ')}` : 'issues no credentials'}. ` +
        `Check it ${placeOf(id)}with a verifier of Open Badges, such as that of 1EdTech.`,
    )
  }

  // The claims of a credential whose signature holds. Each is read where only a signed value can stand.
  function claimsOf({ id, name, validFrom, credentialSubject: subject }, url) {
    const { achievement, result } = must(isObject(subject) && subject, NO_CLAIMS)
    const [, title, version] = must(/#([a-z]+)-([\d.]+)$/.exec(achievement?.id), NO_CLAIMS)
    const [, entity, release] = must(/^(.+)\/credential#([1-9]\d*)$/.exec(id), NO_CLAIMS)
    const [, room, entityId] = must(/\/(agents|forecaster)\/([0-9a-f-]{36})$/.exec(entity), NO_CLAIMS)
    const valueOf = (key) => {
      const one = listOf(result).find(
        ({ resultDescription }) => resultDescription === `${achievement.id}-${key}`,
      )
      return Number(must(typeof one?.value === 'string' && one.value, NO_CLAIMS))
    }
    const isWhole =
      subject.id === entity &&
      entity.startsWith(`${url}/`) &&
      achievement.name === name &&
      String(name).toLowerCase().startsWith(`${title} forecaster`)
    must(isWhole, NO_CLAIMS)
    const numbers = Object.fromEntries(
      ['skill', 'lower', 'upper', 'level', 'questions'].map((key) => [key, valueOf(key)]),
    )
    const [holder] = listOf(subject.identifier)
    return {
      title,
      version,
      entity,
      room,
      entityId,
      release: Number(release),
      asOf: validFrom,
      holder: holder?.identityHash,
      ...numbers,
    }
  }

  const NO_CLAIMS =
    'Its parts do not fit together: it is not in the form in which this service issues credentials.'

  // The same of a record of the service.
  function recordOf(bytes) {
    const record = objectIn(bytes, 'The record of the holder cannot be read.')
    const { lower, upper, level } = record.skill_interval ?? {}
    return {
      title: record.certification ?? record.badge,
      version: record.methodology_version,
      entityId: record.agent_id ?? record.user_id,
      release: record.release,
      asOf: record.as_of,
      holder: record.name ?? undefined,
      skill: record.skill,
      lower,
      upper,
      level,
      questions: record.contested_questions,
    }
  }

  const WORDS = { version: 'version of the method', asOf: 'time', holder: 'name', entityId: 'holder' }
  const summary = ({ title, skill, lower, upper, level, questions }) =>
    `${title}, skill ${skill} between ${lower} and ${upper} with ${100 * level} % confidence, on ${questions} contested questions`

  // Checks that the log has the record of the holder, and that the record and the claims are the same.
  async function compare(claims, path, mount, keys, step) {
    const body = await bytesAt(path)
    const record = recordOf(body)
    const isSame = record.release === claims.release
    must(
      record.release >= claims.release,
      `The service still has release ${record.release}. Try again in a moment.`,
    )
    must(record.entityId === claims.entityId, `The record at ${path} is about somebody else.`)
    const named = await bytesIfThere(`${mount}/log/vkey`)
    if (named || keys.length > 0) {
      const proof = new TextDecoder().decode(await bytesAt(`${path}/proof?release=${record.release}`))
      const vkeys = keys.length > 0 ? keys : new TextDecoder().decode(named).trim().split('\n')
      stepsOf(await verifyWith(body, proof, vkeys)).forEach(step)
      step(
        keys.length > 0
          ? 'The key of the log is one that you gave.'
          : `The key of the log is the one that this service names at ${mount}/log/vkey: compare it with one from elsewhere.`,
      )
    } else step('This service has no public log, so only its own word stands behind the record.')
    for (const [name, value] of isSame ? Object.entries(record) : []) {
      const word = WORDS[name] ?? name
      must(
        claims[name] === value,
        `The record says ${shown(value)} for the ${word}, and the credential ${shown(claims[name])}.`,
      )
    }
    must(
      record.title === 'certified',
      `By release ${record.release} the title is gone: ${summary(record)}. The revocation follows in a moment.`,
    )
    step(
      isSame
        ? `The credential and that record say the same: ${summary(record)}.`
        : `The credential is of release ${claims.release} and says: ${summary(claims)}. The service answers with the record ` +
            `of release ${record.release} alone, which says: ${summary(record)}.`,
    )
  }

  // Of a text, or behind a link. The issuers are the paths of their documents, with spaces between.
  async function check(given, keys, issuers, step) {
    const text = textIn(/^https?:\/\//.test(given) ? await bytesAt(pathOfLink(given)) : encoded(given))
    const credential = objectIn(
      encoded(text),
      'This is no credential: neither its JSON, nor a badge, nor a link to one.',
    )
    must(listOf(credential.type).includes('OpenBadgeCredential'), 'This is no Open Badges credential.')
    const issuer = await issuerOf(credential, issuers.split(' '))
    const { mount } = issuer
    const { url } = credential.issuer
    const local = (address) => {
      must(typeof address === 'string' && address.startsWith(`${url}/`), NO_CLAIMS)
      return mount + address.slice(url.length)
    }
    await standing(credential, issuer, local, step)
    const claims = claimsOf(credential, url)
    await compare(claims, `${local(claims.entity)}/verification`, mount, keys, step)
    const { room, entityId, holder, release } = claims
    const whom =
      holder === undefined
        ? `The ${room === 'agents' ? 'agent' : 'forecaster'} ${entityId}`
        : `${holder}, the agent ${entityId},`
    return `It holds. ${whom} has the certificate “${credential.name}”, by release ${release}, as of ${credential.validFrom}.`
  }

  return { bytesAt, check, textIn }
})()
