// Checks a record in the page, in every `<form data-check>`: with public keys and a proof (`data-check="proof"`), with the
// signing secret, or whatever it is (anything.js). What the form has no field for, the payload or the signature, is the text of the element whose id is the
// field's name. Nothing is sent anywhere; a form with `data-proof` asks this service for the proof and for the key that it names.
import { bytesOfBase64 } from '../../../pipeline/proof/base64.ts'
import { stepsOf, verifyWith } from '../../../pipeline/proof/reader.ts'
import { ServiceError } from '../../../schemas/errors.ts'
import { anything } from './anything.js'
import { certificates, must } from './certificate.js'

;(() => {
  const text = new TextEncoder()

  const value = (form, name) => {
    const field = form.elements.namedItem(name)
    return field ? field.value : document.getElementById(name).textContent
  }

  const keysIn = (form) => value(form, 'vkey').split(/\s+/).filter(Boolean)

  // Copying a text may add a line break at its end, which the service never sends.
  const bodies = (form, file) => {
    if (file) return [file]
    const payload = value(form, 'payload')
    return [...new Set([payload, payload.replace(/[\r\n]+$/, '')])].map((each) => text.encode(each))
  }

  const signatures = (header) =>
    [...header.matchAll(/v1=([0-9a-f]{64})/gi)].map(([, hex]) =>
      Uint8Array.from(hex.match(/../g), (byte) => parseInt(byte, 16)),
    )

  async function holds(secret, signature, bytes) {
    const algorithm = { name: 'HMAC', hash: 'SHA-256' }
    const key = await crypto.subtle.importKey('raw', text.encode(secret), algorithm, false, ['verify'])
    return crypto.subtle.verify('HMAC', key, signature, bytes)
  }

  async function checkSecret(form, file) {
    const claimed = signatures(value(form, 'signature'))
    if (claimed.length === 0) throw new Error('The signature must hold v1= and 64 hexadecimal digits.')
    const secret = value(form, 'secret')
    for (const bytes of bodies(form, file)) {
      for (const signature of claimed) {
        if (await holds(secret, signature, bytes))
          return `It holds: these bytes were signed with this secret. ${wordsOf(bytes)}`
      }
    }
    throw new Error(
      'It does not hold: the record was changed, or the secret or the signature belongs to another one.',
    )
  }

  async function textAt(path) {
    const answer = await fetch(path)
    if (answer.ok) return answer.text()
    const problem = await answer.json().catch(() => ({}))
    throw new Error(`The service answered ${answer.status}: ${problem.detail ?? path}`)
  }

  // A receipt may be as the header holds it, in Base64, with the name of the header.
  function proofIn(given) {
    const proof = given.replace(/\r/g, '').trim()
    if (proof.startsWith('c2sp.org/')) return `${proof}\n`
    return new TextDecoder().decode(bytesOfBase64(proof.replace(/^x-service-receipt:\s*/i, '')))
  }

  async function checkProof(form, file, step) {
    const { proof: path, vkey: keyPath } = form.dataset
    const own = keysIn(form)
    const proof = proofIn(path ? await textAt(path) : value(form, 'proof'))
    const vkeys = own.length > 0 ? own : (await textAt(keyPath)).trim().split('\n')
    const checks = bodies(form, file).map((body) =>
      verifyWith(body, proof, vkeys).then((found) => ({ body, found })),
    )
    const { body, found } = await Promise.any(checks).catch(({ errors }) => {
      throw errors.at(-1)
    })
    stepsOf(found).forEach(step)
    const whose =
      own.length > 0
        ? 'with the keys that you gave'
        : 'with the key that this service names: compare it with one from elsewhere'
    return `It holds, ${whose}. ${wordsOf(body)}`
  }

  function wordsOf(bytes) {
    try {
      const payload = JSON.parse(new TextDecoder().decode(bytes))
      const {
        agent_id: agent,
        user_id: user,
        forecast_id: forecast,
        release,
        as_of: asOf,
        environment,
      } = payload
      const whom = agent ? `the agent ${agent}` : `the forecaster ${user}`
      if (forecast) return `The record is the forecast ${forecast} of ${whom}.`
      const kind = environment === 'sandbox' ? ' It is of the sandbox, where everything is simulated.' : ''
      return `The record is of ${whom}, in release ${release}, as of ${asOf}.${kind}`
    } catch {
      return ''
    }
  }

  const CHECKS = {
    proof: checkProof,
    secret: checkSecret,
    any: (form, _file, step) =>
      anything.check(form.elements.namedItem('q').value, keysIn(form), form.dataset, wordsOf, step),
  }

  function why(error) {
    if (error.name === 'NotSupportedError')
      return 'This browser has no Ed25519: the commands check the record without it.'
    // The words of the checks are in plain errors, and all others are the browser's.
    return error.constructor === Error || error instanceof ServiceError
      ? error.message
      : 'It cannot be read: something in it, or in an answer of the service, is not in the form that it must have.'
  }

  function prepare(form) {
    const output = form.querySelector('output')
    const isAny = form.dataset.check === 'any'
    const field = form.elements.namedItem(isAny ? 'q' : 'payload')
    let file
    // What a check says that was begun before the last change is old.
    let run = 0
    const clear = () => {
      run += 1
      output.replaceChildren()
    }
    const show = (isGood, words, began) => {
      if (began !== run) return
      const line = document.createElement('span')
      line.className = isGood ? 'yes' : 'no'
      line.textContent = (isGood ? '✓ ' : '✗ ') + words
      output.append(line)
    }
    form.addEventListener('input', (event) => {
      if (event.target === field) file = undefined
      clear()
    })
    form.addEventListener('submit', (event) => {
      // The service finds what a link, an id or a name leads to.
      if (isAny && !anything.isChecked(field.value)) return
      event.preventDefault()
      clear()
      const began = run
      const step = (words) => show(true, words, began)
      CHECKS[form.dataset.check](form, file, step).then(step, (error) => show(false, why(error), began))
    })
    const take = async (given) => {
      const bytes = new Uint8Array(await given.arrayBuffer())
      clear()
      if (!isAny) {
        field.value = new TextDecoder().decode(bytes)
        file = bytes
        return
      }
      field.value = ''
      try {
        const found = certificates.textIn(bytes)
        must(anything.isChecked(found), 'This file is no record, no credential and no badge.')
        field.value = found
        form.requestSubmit()
      } catch (error) {
        show(false, why(error), run)
      }
    }
    // A badge may be dropped anywhere but on the field of another check.
    const target = isAny ? document : field
    for (const name of ['dragover', 'dragleave', 'drop']) {
      target?.addEventListener(name, (event) => {
        // Text may be dropped as everywhere.
        if (event.defaultPrevented || !event.dataTransfer.types.includes('Files')) return
        event.preventDefault()
        field.classList.toggle('drop', name === 'dragover')
        const [dropped] = event.dataTransfer.files
        if (name === 'drop' && dropped) void take(dropped)
      })
    }
    if (isAny) {
      field.addEventListener('keydown', (event) => {
        if (event.key !== 'Enter' || event.shiftKey || event.isComposing || anything.isChecked(field.value))
          return
        event.preventDefault()
        form.requestSubmit()
      })
    }
    form.elements
      .namedItem('file')
      ?.addEventListener('change', ({ target: { files } }) => files[0] && take(files[0]))
    form.hidden = false
  }

  if (globalThis.crypto?.subtle) document.querySelectorAll('form[data-check]').forEach(prepare)
  else document.querySelectorAll('[data-insecure]').forEach((note) => (note.hidden = false))
})()
