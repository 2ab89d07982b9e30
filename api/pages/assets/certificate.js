// Checks an Open Badges credential of this service in the page: its signature, its dates, that it was not revoked, that the public
// log has the record behind it, and that both say the same. It asks nobody but this service.
import { isSignedBy } from '../../../pipeline/credentials/data-integrity.ts'
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

  async function isSigned(secured, multikey) {
    try {
      return await isSignedBy(secured, multikey)
    } catch (error) {
      const words = FORMS[error.form]
      throw words ? new Error(words(error)) : error
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

  const asked = async (path) => bytesOfAnswer(await answerOf(path), path)

  // The bytes at a path; undefined where the service has none.
  async function askedIfThere(path) {
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
      const bytes = await askedIfThere(path)
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

  // Returns the key that has signed. The signature is over the hashes of the options of the proof and of the document.
  async function signerOf({ proof: proofs, ...document }, { did, path }, name) {
    const isOne = Array.isArray(proofs) && proofs.length === 1 && isObject(proofs[0])
    const [proof] = must(isOne && proofs, `${name} has no list of one proof.`)
    must(typeof proof.proofValue === 'string', `${shown(proof.proofValue)} is no signature.`)
    const isKnown =
      proof.type === 'DataIntegrityProof' &&
      proof.cryptosuite === 'eddsa-rdfc-2022' &&
      proof.proofPurpose === 'assertionMethod'
    must(isKnown, `The proof of ${name} is not of eddsa-rdfc-2022.`)
    const method = did.verificationMethod.find(({ id }) => id === proof.verificationMethod)
    const isNamed = method && did.assertionMethod.includes(method.id)
    must(isNamed, `The key ${shown(proof.verificationMethod)} is not, or no longer, in ${path}.`)
    const holds = await isSigned({ ...document, proof: proofs }, method.publicKeyMultibase)
    must(holds, `The signature does not hold: ${name} was changed, or another key has signed it.`)
    return method.publicKeyMultibase
  }

  function assertInTime({ validFrom, validUntil }, name) {
    const [from, until] = [Date.parse(validFrom), Date.parse(validUntil)]
    // oxlint-disable-next-line no-restricted-properties -- It is the reader's clock that counts.
    const now = Date.now()
    must(
      typeof validFrom === 'string' && typeof validUntil === 'string' && from < until,
      `${name} has no dates.`,
    )
    must(from <= now, `${name} is not valid before ${validFrom}: is the clock of this computer right?`)
    must(
      now <= until,
      `${name} ran out at ${validUntil}. The service has a new one if the title still holds.`,
    )
  }

  async function bitsOf(packedList) {
    must(
      typeof packedList === 'string' && /^u[\w-]+$/.test(packedList),
      'The list of revoked credentials is no list.',
    )
    const packed = atob(packedList.slice(1).replaceAll('-', '+').replaceAll('_', '/'))
    const bytes = Uint8Array.from(packed, (character) => character.charCodeAt(0))
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'))
    return new Uint8Array(await new Response(stream).arrayBuffer())
  }

  async function assertNotRevoked({ credentialStatus: status }, issuer, local) {
    const { statusListCredential: address, statusListIndex: index } = must(
      isObject(status) && status,
      NO_STATUS,
    )
    must(status.statusPurpose === 'revocation' && /^\d{1,6}$/.test(index), NO_STATUS)
    const list = objectIn(await asked(local(address)), 'The list of revoked credentials is no list.')
    await signerOf(list, issuer, 'the list of revoked credentials')
    const isOne = listOf(list.type).includes('BitstringStatusListCredential')
    const { statusPurpose, encodedList } = list.credentialSubject
    must(
      isOne && list.id === address && list.issuer === issuer.did.id && statusPurpose === 'revocation',
      `${address} is not the list of revoked credentials that it should be.`,
    )
    assertInTime(list, 'The list of revoked credentials')
    const bits = await bitsOf(encodedList)
    const place = Number(index)
    must(place < bits.length * 8, `The list of revoked credentials has no place ${index}.`)
    const isSet = bits[place >> 3] & (0x80 >> (place & 7))
    must(
      !isSet,
      `It was revoked: since ${list.validFrom} at the latest the service says something else of its holder.`,
    )
    return list.validFrom
  }

  const NO_STATUS = 'It does not say where its revocation would be.'

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
    const body = await asked(path)
    const record = recordOf(body)
    const isSame = record.release === claims.release
    must(
      record.release >= claims.release,
      `The service still has release ${record.release}. Try again in a moment.`,
    )
    must(record.entityId === claims.entityId, `The record at ${path} is about somebody else.`)
    const named = await askedIfThere(`${mount}/log/vkey`)
    if (named || keys.length > 0) {
      const proof = new TextDecoder().decode(await asked(`${path}/proof?release=${record.release}`))
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
    const text = textIn(/^https?:\/\//.test(given) ? await asked(pathOfLink(given)) : encoded(given))
    const credential = objectIn(
      encoded(text),
      'This is no credential: neither its JSON, nor a badge, nor a link to one.',
    )
    must(listOf(credential.type).includes('OpenBadgeCredential'), 'This is no Open Badges credential.')
    const issuer = await issuerOf(credential, issuers.split(' '))
    const { did, mount, path } = issuer
    const key = await signerOf(credential, issuer, 'the credential')
    step(`The signature holds: it is by the key ${key}, which ${did.id} names in ${path}.`)
    assertInTime(credential, 'The credential')
    step(`It is valid from ${credential.validFrom} until ${credential.validUntil}.`)
    const { url } = credential.issuer
    const local = (address) => {
      must(typeof address === 'string' && address.startsWith(`${url}/`), NO_CLAIMS)
      return mount + address.slice(url.length)
    }
    const since = await assertNotRevoked(credential, issuer, local)
    step(`It was not revoked, says the list of ${since}, which the same issuer has signed.`)
    const claims = claimsOf(credential, url)
    await compare(claims, `${local(claims.entity)}/verification`, mount, keys, step)
    const { room, entityId, holder, release } = claims
    const whom =
      holder === undefined
        ? `The ${room === 'agents' ? 'agent' : 'forecaster'} ${entityId}`
        : `${holder}, the agent ${entityId},`
    return `It holds. ${whom} has the certificate “${credential.name}”, by release ${release}, as of ${credential.validFrom}.`
  }

  return { asked, check, textIn }
})()
