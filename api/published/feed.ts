// The Atom feed (RFC 4287) of releases, with what each corrects. The values and reasons of corrections are
// escaped; all else in it is a number, an id, an instant or a word of the service. Its links are relative, so
// that they are right wherever the service is mounted; feed libraries accept absolute links only.
import { createHash } from 'node:crypto'
import { canonical } from '../../pipeline/proof/canonical.ts'
import type { Correction, ReleaseManifest, SupersededOutcome } from '../../schemas/manifests.ts'

/** Returns the feed of manifests, which come newest first. The same manifests give the same text. */
export function feedOf(manifests: readonly [ReleaseManifest, ...ReleaseManifest[]]): string {
  const { as_of, environment } = manifests[0]
  return `<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom">
  <id>urn:forecast-verification-service:releases:${environment}</id>
  <title>Forecast verification: releases${environment === 'sandbox' ? ' of the sandbox, simulated' : ''}</title>
  <author><name>forecast-verification-service</name></author>
  <updated>${as_of}</updated>
  <link rel="self" type="application/atom+xml" href="releases.atom"/>
  <link rel="alternate" type="application/json" href="releases/current"/>
${manifests.map(entryOf).join('')}</feed>
`
}

function entryOf(manifest: ReleaseManifest): string {
  const { release, as_of, methodology_version, counts, superseded, corrections } = manifest
  // A release of an earlier version of the service lists only the outcomes that it replaces.
  const corrected = corrections?.map(correctionOf) ?? superseded.map(outcomeOf)
  const count = corrected.length === 1 ? '1 correction' : `${corrected.length} corrections`
  const sentences = [
    `Made by method ${methodology_version} from ${counts.forecasts} forecasts on ${counts.scored_questions} scored questions, ` +
      `of ${counts.agents} agents and ${counts.forecasters} people.`,
    ...corrected,
  ]
  return `  <entry>
    <id>${contentId(manifest)}</id>
    <title>Release ${release}${corrected.length > 0 ? `: ${count}` : ''}</title>
    <updated>${as_of}</updated>
    <link type="application/json" href="releases/${release}"/>
    <content type="text">${sentences.join('\n')}</content>
  </entry>
`
}

/** Names a release by the hash of its manifest (RFC 6920), so that no two services share an id. */
function contentId(manifest: ReleaseManifest): string {
  return `ni:///sha-256;${createHash('sha256').update(canonical(manifest)).digest('base64url')}`
}

function correctionOf(correction: Correction): string {
  const { question_id, column, from, to, recorded_at, reason, pairs, entities } = correction
  const change = `${column} was ${from ?? 'none'} and is ${to ?? 'none'}, as said at ${recorded_at}`
  const why = reason === null ? '' : `, because: ${reason}`
  const forecast = `${entities} of the entities have forecast it, and ${pairs} are scored on it`
  return escaped(`Question ${question_id}: ${change}${why}. ${forecast}.`)
}

const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }

function escaped(text: string): string {
  return text.replace(/[&<>]/g, (character) => ESCAPES[character]!)
}

function outcomeOf({ question_id, from, to }: SupersededOutcome): string {
  const change = to.outcome === 'open' ? 'was withdrawn' : `is now ${to.outcome}`
  return `Question ${question_id}: ${from.outcome} at ${from.resolved_at} ${change} at ${to.resolved_at}.`
}
