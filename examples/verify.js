// Checks that a public log has a body, or that a receipt acknowledges it: with public keys alone, in Node and in browsers.
// The pages of the service load this file. `node verify.js ADDRESS KEY…` fetches a record and its proof, and checks both and that
// it is the record at that address, such as https://…/agents/{agent_id}/verification.
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

// A key, of a log (type 1) or of a witness (type 4).
async function keyOf(vkey) {
  const [, name, id, encoded] = must(/^(.+)\+([0-9a-f]{8})\+(.{44})$/.exec(vkey), `${vkey} is no key`)
  const [type, ...point] = bytesOf(encoded)
  const keyId = number(await sha256(utf8(`${name}\n`), [type, ...point]))
  must((type === 1 || type === 4) && keyId === parseInt(id, 16), `${vkey} is no key of a log or a witness`)
  return { name, keyId, type, point }
}

// Whether the key has signed. Each signature by it must hold.
async function isSignedBy(vkey, text, signatures) {
  const { name, keyId, type, point } = await keyOf(vkey)
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
    // No witness sees receipts.
    must(isThere || !isWitness || !extra, `the witness ${name} has not signed the checkpoint`)
    if (isThere) step(`the checkpoint is signed by ${vkey}`)
    isSigned ||= isThere && !isWitness && name === log
  }
  const known = vkeys.map((vkey) => vkey.slice(0, -45)).join(', ')
  must(isSigned, `no known key of ${log} has signed the checkpoint: known are ${known}`)
}

function stepRecord(kind, { agent_id, user_id, release, as_of, environment, certification, badge }, step) {
  step(`it is the ${kind} of ${user_id ?? agent_id}, release ${release} of ${environment}, as of ${as_of}`)
  const award = certification ?? badge
  if (award) step(award)
}

// A member that the records of one kind have, and those of no other.
const MARKS = {
  verification: 'voice_rule',
  metrics: 'baseline_score',
  rankings: 'board_interval',
  'advanced-metrics': 'conviction',
}
const MOST_BYTES = 4 * 1024 * 1024

// Fetches within 10 s and 4 MiB, and from nobody but the server that is asked.
async function fetched(address) {
  const answer = await fetch(address, { redirect: 'error', signal: AbortSignal.timeout(10_000) })
  must(answer.status === 200, `${address} answers ${answer.status}`)
  const bytes = []
  for await (const chunk of answer.body) {
    must(bytes.length + chunk.length <= MOST_BYTES, `${address} answers with more than ${MOST_BYTES} bytes`)
    for (const byte of chunk) bytes.push(byte)
  }
  return new Uint8Array(bytes)
}

// Proofs hold for every record, so what the record says that it is must be what the address asks for.
function assertAsked(members, { mount, room, id, kind }) {
  const name = room === 'agents' ? 'agent_id' : 'user_id'
  must(MARKS[kind] in members && name in members, `this is not the ${kind} of one of the ${room}`)
  must(members[name] === id.toLowerCase(), `this is about ${members[name]}, not about ${id}`)
  const environment = mount.endsWith('/sandbox') ? 'sandbox' : 'production'
  must(
    members.environment === environment,
    `this is of the ${members.environment}, not of the ${environment}`,
  )
}

async function verifyRecord(address, vkeys, step) {
  const ADDRESS = /^([^?#]+)\/(agents|forecaster)\/([0-9a-fA-F-]{36})\/([a-z-]+)$/
  const [, mount, room, id, kind] = must(ADDRESS.exec(address), `${address} is no address of a record`)
  const body = await fetched(address)
  const members = parse(new TextDecoder().decode(body))
  const proof = await fetched(`${address}/proof?release=${count(String(members.release))}`)
  await verifyProof(body, new TextDecoder().decode(proof), vkeys, step)
  assertAsked(members, { mount, room, id, kind })
  stepRecord(kind, members, step)
}

// The text of others must not steer a terminal.
const plain = (text) => text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '?')

if (globalThis.process?.argv[1]?.endsWith('verify.js')) {
  const [address = '', ...keys] = process.argv.slice(2)
  const vkeys = keys
    .join(' ')
    .split(/[\s,]+/)
    .filter(Boolean)
  const step = (words) => console.log(plain(words))
  const told = 'give the address of a record, and the public key of the log'
  const checked = vkeys.length > 0 ? verifyRecord(address, vkeys, step) : Promise.reject(new Error(told))
  checked.catch((error) => {
    console.error(plain(error.message))
    process.exitCode = 1
  })
}
