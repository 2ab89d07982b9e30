// The public log: its last checkpoint, its tiles and entries, and the keys that sign it.
import { z } from 'zod'
import { ServiceError } from '../../schemas/errors.ts'
import { encoded } from '../../pipeline/proof/canonical.ts'
import { logExamples } from '../openapi/log-examples.ts'
import { FOR_EVER, route } from '../http/route.ts'

export const logCheckpoint = route({
  path: '/log/checkpoint',
  operationId: 'getLogCheckpoint',
  tag: 'Log',
  summary: 'The last checkpoint of the public log',
  description:
    'How many entries the log has and the root of their Merkle tree, signed (c2sp.org/tlog-checkpoint) and ' +
    'cosigned by the witnesses that have seen it (c2sp.org/tlog-cosignature). Entry n − 1, counted ' +
    'from 0, says what release n published. Its tiles and bundles of entries are below `/log/tile/` (c2sp.org/tlog-tiles). ' +
    'This document does not list them, since their paths have several parts.',
  follows: true,
  success: {
    description: 'A signed note',
    body: z.string(),
    mediaType: 'text/plain',
    cache: 'public, max-age=2',
    get example() {
      return logExamples().checkpoint
    },
  },
  problems: { 404: { type: 'not-found', detail: 'the public log has no entry yet' } },
  handle: (_request, { publicLog }) => {
    const { checkpoint } = publicLog
    if (checkpoint) return { body: encoded(checkpoint) }
    const detail = publicLog.isThere ? 'the public log has no entry yet' : NO_LOG
    throw new ServiceError('notFound', detail)
  },
})

export const logTile = route({
  path: '/log/tile/{+tile}',
  operationId: 'getLogTile',
  // A parameter of the document cannot hold a slash.
  isDocumented: false,
  tag: 'Log',
  summary: 'A tile or a bundle of entries of the public log',
  description: 'Hashes of the tree of the public log, or its entries, as c2sp.org/tlog-tiles has them.',
  needsStore: true,
  params: z.strictObject({ tile: z.string() }),
  success: {
    description: 'Hashes of 32 bytes, or entries behind their lengths',
    body: z.string(),
    mediaType: 'application/octet-stream',
    cache: FOR_EVER,
    example: '',
  },
  handle: async ({ params }, { publicLog }) => {
    const body = await publicLog.tile(`tile/${params.tile}`)
    if (body) return { body }
    throw new ServiceError('notFound', 'the public log has no such tile')
  },
})

export const logKeys = route({
  path: '/log/vkey',
  operationId: 'getLogKeys',
  tag: 'Log',
  summary: 'The keys that the public log is signed with',
  description:
    'The public keys in force, one a line, the one that signs first at the front (c2sp.org/signed-note). To trust them, compare ' +
    'them with what the operator has published elsewhere.',
  success: {
    description: 'One key a line',
    body: z.string(),
    mediaType: 'text/plain',
    cache: 'public, max-age=60',
    get example() {
      return logExamples().vkeys
    },
  },
  problems: { 404: { type: 'not-found', detail: 'this service signs no public log' } },
  handle: (_request, { publicLog }) => {
    const { vkeys } = publicLog
    if (vkeys.length === 0) throw new ServiceError('notFound', 'this service signs no public log')
    return { body: encoded(vkeys.map((vkey) => `${vkey}\n`).join('')) }
  },
})

export const NO_LOG = 'this service keeps no public log'
