// Checks the signature of a record in the page: nothing is sent anywhere. It works on every `<form data-check>`. What the form
// has no field for, the payload or the signature, is the text of the element whose id is the field's name.
;(() => {
  const text = new TextEncoder()

  const value = (form, name) => {
    const field = form.elements.namedItem(name)
    return field ? field.value : document.getElementById(name).textContent
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

  async function verdict(form, file) {
    const payload = value(form, 'payload')
    const claimed = signatures(value(form, 'signature'))
    if (claimed.length === 0) return [false, 'The signature must hold v1= and 64 hexadecimal digits.']
    // Copying a text may add a line break at its end, which the service never sends.
    const candidates = file
      ? [file]
      : [payload, payload.replace(/[\r\n]+$/, '')].map((each) => text.encode(each))
    const secret = value(form, 'secret')
    for (const bytes of candidates) {
      for (const signature of claimed) {
        if (await holds(secret, signature, bytes)) return [true, `It holds: ${said(bytes)}`]
      }
    }
    return [
      false,
      'It does not hold: the record was changed, or the secret or the signature belongs to another one.',
    ]
  }

  function said(bytes) {
    try {
      const { release, as_of: asOf, environment } = JSON.parse(new TextDecoder().decode(bytes))
      const kind = environment === 'sandbox' ? ' It is of the sandbox, where everything is simulated.' : ''
      return `these bytes were signed with this secret. They are of release ${release}, as of ${asOf}.${kind}`
    } catch {
      return 'these bytes were signed with this secret.'
    }
  }

  function prepare(form) {
    const output = form.querySelector('output')
    const field = form.elements.namedItem('payload')
    let file
    const show = (isGood, words) => {
      output.className = isGood ? 'yes' : 'no'
      output.textContent = (isGood ? '✓ ' : '✗ ') + words
    }
    const clear = () => {
      output.className = ''
      output.textContent = ''
    }
    form.addEventListener('input', (event) => {
      if (event.target === field) file = undefined
      clear()
    })
    form.addEventListener('submit', (event) => {
      event.preventDefault()
      verdict(form, file).then(
        ([isGood, words]) => show(isGood, words),
        (error) => show(false, `The check failed: ${error.message}`),
      )
    })
    for (const name of ['dragover', 'dragleave', 'drop']) {
      field?.addEventListener(name, (event) => {
        // Text may be dropped as everywhere.
        if (!event.dataTransfer.types.includes('Files')) return
        event.preventDefault()
        field.classList.toggle('drop', name === 'dragover')
      })
    }
    field?.addEventListener('drop', async (event) => {
      const [dropped] = event.dataTransfer.files
      if (!dropped) return
      const bytes = new Uint8Array(await dropped.arrayBuffer())
      field.value = new TextDecoder().decode(bytes)
      file = bytes
      clear()
    })
    form.hidden = false
  }

  if (globalThis.crypto?.subtle) document.querySelectorAll('form[data-check]').forEach(prepare)
  else document.querySelectorAll('[data-insecure]').forEach((note) => (note.hidden = false))
})()
