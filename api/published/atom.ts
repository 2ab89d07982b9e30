// The Atom feed (RFC 4287) of releases, with what each corrects. The address of the service and the values
// and reasons of corrections are escaped; all else is a number, an id, an instant or a word of the service.
import { createHash } from 'node:crypto'
import type { Correction, Erasure, ReleaseManifest } from '../../schemas/manifests.ts'
import { type Site, addressOf, linkTo, serviceName } from '../pages/site.ts'

/** The most corrections of a release that its entry tells. */
const CORRECTIONS_TOLD = 100

export interface Installation {
  site: Site
  /** Tells the store from every other one. */
  store: string
}

/** Returns the feed of manifests, which come newest first. The same manifests give the same text. */
export function atomOf(
  installation: Installation,
  manifests: readonly [ReleaseManifest, ...ReleaseManifest[]],
): string {
  const { as_of, environment } = manifests[0]
  const link = linkIn(installation)
  return `<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom">
  <id>${entryId(installation, '/releases.atom')}</id>
  <title>${escaped(serviceName(installation.site))}: releases${environment === 'sandbox' ? ' of the sandbox, simulated' : ''}</title>
  <author><name>forecast-verification-service</name></author>
  <updated>${as_of}</updated>
  <link rel="self" type="application/atom+xml" href="${link('/releases.atom')}"/>
  <link rel="alternate" type="application/json" href="${link('/releases/current')}"/>
${manifests.map((manifest) => entryOf(installation, manifest)).join('')}</feed>
`
}

function entryOf(installation: Installation, manifest: ReleaseManifest): string {
  const { release, as_of, methodology_version, counts, corrections, erasures = [] } = manifest
  const corrected = [...erasures.map(erasureOf), ...corrections.map(correctionOf)]
  const count = corrected.length === 1 ? '1 correction' : `${corrected.length} corrections`
  const sentences = [
    `Made by method ${methodology_version} from ${counts.forecasts} forecasts on ${counts.scored_questions} scored questions, ` +
      `of ${counts.agents} agents and ${counts.forecasters} people.`,
    ...corrected.slice(0, CORRECTIONS_TOLD),
    ...(corrected.length > CORRECTIONS_TOLD
      ? [`${corrected.length - CORRECTIONS_TOLD} more are in the manifest.`]
      : []),
  ]
  const path = `/releases/${release}`
  return `  <entry>
    <id>${entryId(installation, path)}</id>
    <title>Release ${release}${corrected.length > 0 ? `: ${count}` : ''}</title>
    <updated>${as_of}</updated>
    <link type="application/json" href="${linkIn(installation)(path)}"/>
    <content type="text">${sentences.join('\n')}</content>
  </entry>
`
}

/**
 * Returns how to link to a path. Without PUBLIC_URL links are relative to the feed, which is right wherever
 * the service is mounted; feed libraries accept absolute links only.
 */
function linkIn({ site }: Installation): (path: string) => string {
  return (path) => (site.publicUrl === undefined ? path.slice(1) : escaped(addressOf(site, path)))
}

/**
 * Returns an id that no other service has: the address, or a hash of the store and the path (RFC 6920) where
 * the service does not know its address.
 */
function entryId({ site, store }: Installation, path: string): string {
  if (site.publicUrl !== undefined) return escaped(addressOf(site, path))
  const digest = createHash('sha256')
    .update(`${store} ${linkTo(site, path)}`)
    .digest('base64url')
  return `ni:///sha-256;${digest}`
}

function correctionOf(correction: Correction): string {
  const { question_id, column, from, to, recorded_at, reason, pairs, entities } = correction
  const change = `${column} was ${from ?? 'none'} and is ${to ?? 'none'}, as said at ${recorded_at}`
  const why = reason === null ? '' : `, because: ${reason}`
  const forecast = `${entities} of the entities have forecast it, and ${pairs} are scored on it`
  return escaped(`Question ${question_id}: ${change}${why}. ${forecast}.`)
}

function erasureOf({ user_id, erased_at, reason, forecasts, questions, pairs }: Erasure): string {
  return escaped(
    `Person ${user_id}: ${forecasts} forecasts were erased at ${erased_at}, because: ${reason}. It may have moved ${pairs} scores on ${questions} questions.`,
  )
}

const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (character) => ESCAPES[character]!)
}
