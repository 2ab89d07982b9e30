// Checks in the page what was pasted or dropped there, whatever it is: a credential or a badge that carries one, or a
// record, whose proof it asks of this service. Links, ids and names are for the service itself.
import { encoded } from '../../../pipeline/proof/canonical.ts'
import { identityOf } from '../../../pipeline/proof/identity.ts'
import { stepsOf, verifyWith } from '../../../pipeline/proof/reader.ts'
import { certificates, must } from './certificate.js'

export const anything = (() => {
  const CONTENT = /^\s*[{[<]/
  const LINK_TO_CREDENTIAL = /^\s*https?:\S+\/(?:credential|badge\.svg)(?:#\d+)?\s*$/

  // Whether the browser checks a text, and not the service.
  const isChecked = (text) => CONTENT.test(text) || LINK_TO_CREDENTIAL.test(text)

  // The kinds of records that have proofs.
  const PROVEN = ['verification', 'metrics', 'rankings', 'advanced-metrics']

  const REFORMATTED =
    'This record was reformatted, or something was left out: paste it exactly as it was sent, or drop its file here.'

  function membersOf(text) {
    let value
    try {
      value = JSON.parse(text)
    } catch {
      // The error below says it.
    }
    return must(
      value !== null && typeof value === 'object' && value,
      'This is no record: it begins like one, but it is not whole. Copy it from its first { to its last }.',
    )
  }

  // Where this service has the proof of a record.
  function proofPathOf(members, mount) {
    const { agent_id: agent, user_id: user, forecast_id: forecast, release, environment } = members
    const ids = [agent, user, forecast].filter((id) => id !== undefined)
    must(
      ids.length > 0 && ids.every((id) => /^[0-9a-f-]{36}$/.test(id)),
      'This is no record of this service: it names nobody.',
    )
    if (forecast) return `${mount}/forecasts/${forecast}/proof`
    const [, kind] = /^(?:agent|forecaster)-(.+)$/.exec(identityOf(members).kind) ?? []
    must(
      PROVEN.includes(kind) && Number.isSafeInteger(release),
      'This is no record that has a proof: it names no release, or it is of an unknown kind.',
    )
    const root = environment === 'sandbox' ? '/sandbox' : ''
    return `${root}/${agent ? `agents/${agent}` : `forecaster/${user}`}/${kind}/proof?release=${release}`
  }

  const rootOfPath = (path) => (path.startsWith('/sandbox/') ? '/sandbox' : '')

  async function keysFor(path, own) {
    if (own.length > 0) return own
    const named = new TextDecoder().decode(await certificates.bytesAt(`${rootOfPath(path)}/log/vkey`))
    return named.trim().split('\n')
  }

  const whose = (own) =>
    own.length > 0
      ? 'with the keys that you gave'
      : 'with the key that this service names: compare it with one from elsewhere'

  // Calls `step` with each thing that holds, and resolves to the result in words. `wordsOf` puts a record
  // into words.
  async function check(text, own, { mount, issuers }, wordsOf, step) {
    if (!/^\s*[{[]/.test(text)) {
      const given = text.trim().startsWith('<') ? certificates.textIn(encoded(text)) : text.trim()
      return certificates.check(given, own, issuers, step)
    }
    const record = text.replace(/[\r\n]+$/, '')
    const members = membersOf(record)
    if ([members.type].flat().includes('OpenBadgeCredential'))
      return certificates.check(record, own, issuers, step)
    must(JSON.stringify(members) === record, REFORMATTED)
    const path = proofPathOf(members, mount)
    const keys = await keysFor(path, own)
    const proof = new TextDecoder().decode(await certificates.bytesAt(path))
    stepsOf(await verifyWith(encoded(record), proof, keys)).forEach(step)
    return `It holds, ${whose(own)}. ${wordsOf(encoded(record))}`
  }

  return { check, isChecked }
})()
