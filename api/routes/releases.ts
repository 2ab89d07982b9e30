// Releases: their content, their corrections, and the time at which the next one is due.
import { z } from 'zod'
import * as answers from '../../schemas/answers.ts'
import { ServiceError } from '../../schemas/errors.ts'
import { releaseParams } from '../../schemas/requests.ts'
import type { Published } from '../published/published.ts'
import { noSuchRelease } from '../http/not-published.ts'
import * as examples from '../openapi/examples.ts'
import { route } from '../http/route.ts'

const CACHE = 'public, max-age=60'
const CONTENT =
  'what it was made from and by which method, what it counts, its files with their hashes, and what it corrects'

export const currentRelease = route({
  path: '/releases/current',
  operationId: 'getCurrentRelease',
  tag: 'Records',
  summary: 'The current release',
  description: `The release that all other calls answer from: ${CONTENT}. Says also when the next one is due.`,
  follows: true,
  success: {
    description: 'As its manifest says',
    body: answers.currentRelease,
    cache: CACHE,
    example: examples.currentRelease,
  },
  problems: {
    404: { type: 'not-released-yet', detail: examples.NO_RELEASE_YET },
  },
  handle: async (_request, context, release) => {
    if (!release.manifest) throw noReleaseYet(context)
    return { body: await context.records.current(release, context.nextReleaseAt()) }
  },
})

export const numberedRelease = route({
  path: '/releases/{release}',
  operationId: 'getRelease',
  tag: 'Records',
  summary: 'A release',
  description: `What a release says of itself: ${CONTENT}. Says also since when it is thinned, if it is.`,
  follows: true,
  needsStore: true,
  params: releaseParams,
  examples: { params: { release: '1' } },
  success: {
    description: 'As its manifest says',
    body: answers.publishedRelease,
    cache: CACHE,
    example: examples.publishedRelease,
  },
  problems: {
    404: { type: 'not-released-yet', detail: noSuchRelease(215, 214).message },
    422: examples.invalid('path', 'release', 'must be the number of a release, such as 12'),
  },
  handle: async ({ params }, context, { manifest }) => {
    const number = Number(params.release)
    const last = manifest?.release ?? 0
    if (number > last) throw noSuchRelease(number, last)
    return { body: await context.records.recordOf(number) }
  },
})

export const releaseFeed = route({
  path: '/releases.atom',
  operationId: 'getReleaseFeed',
  tag: 'Records',
  summary: 'The last releases as an Atom feed',
  description: 'The last fifty releases, the newest first, each with what it corrects.',
  follows: true,
  needsStore: true,
  success: {
    description: 'An Atom feed',
    body: z.string(),
    mediaType: 'application/atom+xml',
    cache: CACHE,
    example: '<?xml version="1.0" encoding="utf-8"?>\n<feed xmlns="http://www.w3.org/2005/Atom">…</feed>',
  },
  problems: {
    404: { type: 'not-released-yet', detail: examples.NO_RELEASE_YET },
  },
  handle: async (_request, context, release) => {
    if (!release.manifest) throw noReleaseYet(context)
    return { body: await context.records.feed(release) }
  },
})

/** Returns the error of a service that has made no release yet. */
export function noReleaseYet({ nextReleaseAt }: Published): ServiceError {
  const detail = `no release has been made yet; ${whenDue(nextReleaseAt())}`
  return new ServiceError('notFound', detail, { type: 'not-released-yet' })
}

function whenDue(next: Date | undefined): string {
  return next
    ? `the first one is due at ${next.toISOString()}`
    : 'this node does not know when the first one is due'
}
