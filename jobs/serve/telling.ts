// Writes the feed, and delivers it to webhooks, in the process that makes releases on schedule.
import { Feed } from '../../pipeline/feed/feed.ts'
import { FeedWriter } from '../../pipeline/feed/writer.ts'
import { Deliverer } from '../../pipeline/webhooks/deliver.ts'
import { lookUpAll } from '../../pipeline/public-address.ts'
import { TIMEOUT_MS } from '../../pipeline/webhooks/send.ts'
import type { Components } from '../components/components.ts'
import { repeat } from './repeat.ts'

export interface Telling {
  stop: () => Promise<void>
}

/** Calls `isClockRight` each time: with a wrong clock, questions would open and close too soon. */
export function createTelling(components: Components, isClockRight: () => boolean): Telling {
  const { environment, settings, store, now, logger, log } = components
  const writer = new FeedWriter(components)
  const stopping = new AbortController()
  const deliverer = new Deliverer({
    store,
    feed: new Feed(store, now),
    now,
    log,
    isPrivateAllowed: settings.WEBHOOKS_PRIVATE,
    lookUp: lookUpAll,
    timeoutMs: TIMEOUT_MS,
  })
  const telling = repeat(settings.REFRESH_MS, async () => {
    try {
      if (isClockRight()) await writer.write(stopping.signal)
      await deliverer.begin()
    } catch (error) {
      logger.warn({ err: error, environment }, 'could not tell what has happened; it is tried again')
    }
  })
  return {
    stop: async () => {
      stopping.abort()
      await Promise.all([telling.stop(), deliverer.stop()])
    },
  }
}
