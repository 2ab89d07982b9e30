// Checks that a public log has a body, or that a receipt acknowledges it: with public keys alone, in Node and in browsers.
// The pages of the service load this file. `node verify.js` checks what the service publishes of an agent, by FVS_URL, AGENT_ID
// and LOG_VKEY of the environment.
const must = (found, why) => {
  if (!found) throw new Error(why)
  return found
}
const utf8 = (text) => new TextEncoder().encode(text)
const sha256 = async (...parts) =>
  new Uint8Array(await crypto.subtle.digest('SHA-256', new Uint8Array(parts.flatMap((part) => [...part]))))
const base64 = (bytes) => btoa(String.fromCharCode(...bytes))
const bytesOf = (text) => {
  const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0))
  return must(base64(bytes) === text && bytes, `${text} is not Base64`)
}
const number = (bytes) => new DataView(bytes.buffer).getUint32(0)
const count = (text) => Number(must(/^(0|[1-9]\d{0,14})$/.exec(text), `${text} is no number`)[0])
// JSON may name a member twice, and readers would then differ over it.
const parse = (json) =>
  must(JSON.stringify(JSON.parse(json)) === json && JSON.parse(json), 'the JSON is in no order')
const pathOf = (text) => {
  const [, index, lines] = must(/^index (.+)((?:\n.{43}=){0,63})$/.exec(text), 'there is no path')
  return [count(index), lines.split('\n').slice(1).map(bytesOf)]
}

// The root of the tree of this size that has the leaf at this index (RFC 6962, 2.1). Its sibling begins the path.
async function rootOf(leaf, size, [index, path]) {
  const isLeaf = size <= 1 || path.length === 0
  must(!isLeaf || (size === 1 && index === 0 && path.length === 0), 'the path has a wrong length')
  if (isLeaf) return leaf
  let left = 1
  while (left * 2 < size) left *= 2
  const [below, sibling] = [path.slice(0, -1), path.at(-1)]
  if (index < left) return sha256([1], await rootOf(leaf, left, [index, below]), sibling)
  return sha256([1], sibling, await rootOf(leaf, size - left, [index - left, below]))
}

// Whether the key, of a log (type 1) or of a witness (type 4), has signed. Each signature by it must hold.
async function isSignedBy(vkey, text, signatures) {
  const [, name, id, encoded] = must(/^(.+)\+([0-9a-f]{8})\+(.{44})$/.exec(vkey), `${vkey} is no key`)
  const [type, ...point] = bytesOf(encoded)
  const keyId = number(await sha256(utf8(`${name}\n`), [type, ...point]))
  must((type === 1 || type === 4) && keyId === parseInt(id, 16), `${vkey} is no key of a log or a witness`)
  const key = await crypto.subtle.importKey('raw', new Uint8Array(point), 'Ed25519', false, ['verify'])
  const own = signatures.split('\n').filter((line) => line.startsWith(`— ${name} `))
  const found = own.map((line) => bytesOf(line.split(' ')[2])).filter((bytes) => number(bytes) === keyId)
  for (const bytes of found) {
    const time = type === 4 && `cosignature/v1\ntime ${new DataView(bytes.buffer).getBigUint64(4)}\n`
    const [message, signature] = time ? [time + text, bytes.slice(12)] : [text, bytes.slice(4)]
    const holds = await crypto.subtle.verify('Ed25519', key, signature, utf8(message))
    must(holds, `the signature of ${name} does not hold`)
  }
  return { name, isWitness: type === 4, isThere: found.length > 0 }
}

// Calls `step` with each thing that holds, and throws an Error with the first that does not.
async function verifyProof(body, proof, vkeys, step) {
  const PROOF = /^c2sp\.org\/tlog-proof@v1\n(?:extra (.+)\n)?(.[^]*?)\n\n([^]{0,65536})$/
  const [, extra, outer, note] = must(PROOF.exec(proof), 'this is no proof')
  const NOTE = /^((.+)\n(.+)\n(.+)\n)\n((?:— .+ .+\n)+)$/
  const [, text, origin, size, root, signatures] = must(NOTE.exec(note), 'the checkpoint is none')
  const members = parse(new TextDecoder().decode(body))
  const [index, path] = pathOf(outer)
  const isForecast = 'forecast_id' in members
  let [leaf, log] = [await sha256([0], body), origin]
  if (extra) {
    const [inner, json] = new TextDecoder().decode(bytesOf(extra)).split('\n\n')
    const statement = parse(json)
    const { release } = statement
    const name = isForecast ? 'forecasts' : 'user_id' in members ? 'forecaster' : 'agent'
    const tree = must(statement[name], `release ${release} has no tree “${name}”`)
    const found = base64(await rootOf(leaf, tree.size, pathOf(inner)))
    must(found === tree.root, `these bytes are not in the tree “${name}” of release ${release}`)
    must(index === release - 1, `release ${release} is not entry ${index}`)
    for (const field of isForecast ? [] : ['release', 'as_of', 'environment'])
      must(members[field] === statement[field], `the bytes have another ${field} than the release`)
    step(`these bytes are in the tree “${name}” of release ${release}, among ${tree.size}`)
    leaf = await sha256([0], utf8(json))
  } else {
    const batch = must(/^(.+)\/receipts\/[0-9a-f-]{36}$/.exec(origin), `${origin} gives no receipts`)
    must(isForecast, 'only forecasts have receipts')
    log = batch[1]
  }
  const found = base64(await rootOf(leaf, count(size), [index, path]))
  must(found === root, 'the checkpoint has another root')
  step(`that is entry ${index} of ${size} under the checkpoint of ${origin}`)
  let isSigned = false
  for (const vkey of vkeys) {
    const { name, isWitness, isThere } = await isSignedBy(vkey, text, signatures)
    must(isThere || !isWitness, `the witness ${name} has not signed the checkpoint`)
    if (isThere) step(`the checkpoint is signed by ${vkey}`)
    isSigned ||= isThere && !isWitness && name === log
  }
  must(isSigned, `no known key of ${log} has signed the checkpoint`)
}

// Fetches the verification of an agent and its proof, checks both, and prints the certification.
async function verifyAgent(service, agentId, vkeys) {
  const url = `${service}/agents/${agentId}/verification`
  const ask = async (address) => {
    const answer = await fetch(address)
    must(answer.ok, `${address} answers ${answer.status}`)
    return new Uint8Array(await answer.arrayBuffer())
  }
  const body = await ask(url)
  const payload = JSON.parse(new TextDecoder().decode(body))
  const proof = new TextDecoder().decode(await ask(`${url}/proof?release=${payload.release}`))
  await verifyProof(body, proof, vkeys, console.log)
  must(payload.agent_id === agentId && payload.certification, 'this is no verification of the agent')
  console.log(payload.certification)
}

if (globalThis.process?.argv[1]?.endsWith('verify.js')) {
  const { FVS_URL, AGENT_ID, LOG_VKEY } = process.env
  verifyAgent(FVS_URL, AGENT_ID, LOG_VKEY.split(/\s+/)).catch((error) => {
    console.error(error.message)
    process.exitCode = 1
  })
}
