// Files of releases, of snapshots and of the public log, as the store has them.
import { z } from 'zod'
import { decoded, encoded } from '../../pipeline/proof/canonical.ts'
import * as answers from '../../schemas/answers.ts'
import { ServiceError } from '../../schemas/errors.ts'
import { fileReply } from '../http/ranges.ts'
import { FOR_EVER, type RouteRequest, route } from '../http/route.ts'
import type { Published } from '../published/published.ts'
import type { Release } from '../published/release-payloads.ts'
import * as examples from '../openapi/examples.ts'
import { type Site, addressOf as publicAddress } from '../pages/site.ts'
import { viewsSql } from '../published/data-views.ts'
import { noReleaseYet } from './releases.ts'

const A_MINUTE = 'public, max-age=60'

export const dataIndex = route({
  path: '/data/index.json',
  operationId: 'getDataIndex',
  tag: 'Records',
  summary: 'The files that anyone may read',
  description:
    'Every file of the current release below `/data/`, with its size and SHA-256, the days that have a snapshot, and the size of the ' +
    'public log. A file is at `/data/<path>`, also in parts (`Range`); this document does not list them, since their ' +
    'paths have several parts. `releases/current/…` stands for the current release.',
  follows: true,
  needsStore: true,
  success: {
    description: 'The files',
    body: answers.dataIndex,
    cache: A_MINUTE,
    example: examples.dataIndex,
  },
  problems: { 404: { type: 'not-found', detail: examples.NO_PUBLIC_DATA } },
  handle: async (_request, context, release) => ({ body: await indexOf(context, release) }),
})

async function indexOf(context: Published, release: Release): Promise<Uint8Array> {
  if (!release.manifest) throw noReleaseYet(context)
  const found = await context.publicData.index(release)
  if (found) return found
  throw new ServiceError('notFound', examples.NO_PUBLIC_DATA)
}

export const dataViews = route({
  path: '/data/views.sql',
  operationId: 'getDataViews',
  // The answer is a program for another tool.
  isDocumented: false,
  tag: 'Records',
  summary: 'Views of the current release',
  description: 'Statements for DuckDB that make views over the files of the current release.',
  follows: true,
  needsStore: true,
  success: {
    description: 'SQL',
    body: z.string(),
    mediaType: 'application/sql',
    cache: 'no-cache',
    example: '',
  },
  handle: async ({ header }, context, release) => {
    const index = await indexOf(context, release)
    const address = dataAddress(context.site, '/data', header('host'))
    return { body: encoded(viewsSql(JSON.parse(decoded(index)) as answers.DataIndex, address)) }
  },
})

/** The address of a path: by what the operator has set, otherwise by what the caller has called. */
function dataAddress(site: Site, path: string, host = ''): string {
  if (site.publicUrl !== undefined) return publicAddress(site, path)
  if (/^[\w.:[\]-]+$/.test(host)) return `http://${host}${publicAddress(site, path)}`
  throw new ServiceError(
    'notFound',
    'this service does not know its address: the operator has to set PUBLIC_URL',
  )
}

export const dataFile = route({
  path: '/data/{+path}',
  operationId: 'getDataFile',
  // A parameter of the document cannot hold a slash.
  isDocumented: false,
  tag: 'Records',
  summary: 'A file that anyone may read',
  description: 'A file of a release, of a snapshot or of the public log, or a part of it.',
  follows: true,
  needsStore: true,
  params: z.strictObject({ path: z.string() }),
  success: {
    description: 'The bytes in the store',
    body: z.string(),
    mediaType: 'application/octet-stream',
    example: '',
  },
  handle: (request, { publicData }, release) => sent(request, publicData, release),
})

type DataRequest = Pick<
  RouteRequest<{ path: string }, unknown, unknown, 'none'>,
  'params' | 'header' | 'isHead' | 'asker'
>

async function sent(request: DataRequest, publicData: Published['publicData'], { manifest }: Release) {
  const { path } = request.params
  const found = await publicData.find(path, manifest)
  if (!found)
    throw new ServiceError(
      'notFound',
      'there is no such file; /data/index.json lists those of the current release',
    )
  const { sizeBytes, sha256, isForGood } = found
  const headers = {
    'Content-Type': typeOf(path),
    'Cache-Control': isForGood ? FOR_EVER : A_MINUTE,
  }
  const read = (start: number, end: number) => publicData.read(found, start, end)
  return fileReply(request, { sizeBytes, sha256, headers, read })
}

function typeOf(path: string): string {
  if (path.endsWith('.json')) return 'application/json'
  if (path.endsWith('.parquet')) return 'application/vnd.apache.parquet'
  return path.startsWith('log/checkpoints/') ? 'text/plain; charset=utf-8' : 'application/octet-stream'
}
