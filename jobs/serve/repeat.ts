// Work that a node repeats in the background.
import { setTimeout as pause } from 'node:timers/promises'
import { netted } from '../../api/http/net.ts'
import type { Pause } from './follower.ts'

export const pauseFor: Pause = (milliseconds, signal) =>
  pause(milliseconds, true, { signal }).catch(() => false)

/** Repeats `step`, which handles its own failures, each time `pauseMs` after the last one has ended. */
export function repeat(pauseMs: number, step: () => Promise<void>): { stop: () => Promise<void> } {
  const stopping = new AbortController()
  const { signal } = stopping
  const running = (async () => {
    while (await pauseFor(pauseMs, signal)) await netted(step)
  })()
  return {
    /** Starts no further step, and waits for the one under way. */
    stop: () => {
      stopping.abort()
      return running
    },
  }
}
