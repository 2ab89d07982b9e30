// `fvs verify`: checks signatures of what the API answered or of files that were published.
import { readFile } from 'node:fs/promises'
import { z } from 'zod'
import { canonical, signatureHolds } from '../pipeline/sign.ts'
import type { Settings } from '../schemas/config.ts'
import { ServiceError } from '../schemas/errors.ts'
import { PUBLICATIONS, bulkResults, releaseShard } from '../schemas/payloads.ts'
import type { Report } from './output.ts'

interface Signed {
  name: string
  bytes: Uint8Array
  signature: string | null
}

const FETCH_TIMEOUT_MS = 30_000

/** @throws ServiceError `invalid` where there is nothing to check or to check it with. */
export async function runVerify(
  settings: Settings,
  target: string,
  signature: string | undefined,
): Promise<Report> {
  const { VERIFICATION_SIGNING_SECRET: current, VERIFICATION_SIGNING_SECRET_PREVIOUS: previous } = settings
  const secrets = [current, previous].filter((secret) => secret !== undefined)
  if (secrets.length === 0) {
    throw new ServiceError(
      'invalid',
      'set VERIFICATION_SIGNING_SECRET to the secret that the service signs with',
    )
  }
  const isUrl = /^https?:\/\//.test(target)
  const signed = isUrl ? [await fetchSigned(target)] : await readSigned(target, signature)
  const bad = signed.filter(
    (item) => item.signature === null || !signatureHolds(item.bytes, item.signature, secrets),
  )
  const ok = bad.length === 0
  const lines = ok
    ? [`${target}: ${signed.length === 1 ? 'the signature holds' : `all ${signed.length} signatures hold`}`]
    : [
        `${target}: ${bad.length} of ${signed.length} signatures do not hold`,
        ...bad
          .slice(0, 20)
          .map(
            ({ name, signature: found }) =>
              `  ${name}: ${found === null ? 'unsigned' : 'not signed with this secret, or changed since'}`,
          ),
      ]
  const json = { target, ok, checked: signed.length, failed: bad.map(({ name }) => name) }
  return { ok, json, text: lines.join('\n') }
}

async function fetchSigned(url: string): Promise<Signed> {
  let response: Response
  let bytes: Uint8Array
  try {
    response = await fetch(url, { signal: AbortSignal.timeout(FETCH_TIMEOUT_MS) })
    bytes = new Uint8Array(await response.arrayBuffer())
  } catch (cause) {
    throw new ServiceError('unavailable', `${url} does not answer`, { cause })
  }
  if (!response.ok) throw new ServiceError('invalid', `${url} answered ${response.status}, not a payload`)
  return { name: url, bytes, signature: response.headers.get('x-service-signature') }
}

async function readSigned(path: string, signature: string | undefined): Promise<Signed[]> {
  let bytes: Uint8Array
  try {
    bytes = await readFile(path)
  } catch (cause) {
    throw new ServiceError('invalid', `${path} cannot be read`, { cause })
  }
  if (signature !== undefined) return [{ name: path, bytes, signature }]
  const content = z.union([releaseShard, bulkResults]).safeParse(parseJson(path, bytes))
  if (!content.success) {
    throw new ServiceError('invalid', `${path} holds no signatures: give the payload's with --signature`)
  }
  if ('results' in content.data) {
    return content.data.results.flatMap((result) =>
      result.status === 'ok'
        ? [{ name: result.id, bytes: canonical(result.verification), signature: result.signature }]
        : [],
    )
  }
  return Object.entries(content.data.entities).flatMap(([entityId, entity]) =>
    PUBLICATIONS.map((kind) => ({
      name: `${kind} of ${entityId}`,
      bytes: canonical(entity[kind].payload),
      signature: entity[kind].signature,
    })),
  )
}

function parseJson(path: string, bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(bytes))
  } catch (cause) {
    throw new ServiceError('invalid', `${path} is not JSON`, { cause })
  }
}
