// Work that goes on in the background of a process.

export interface Repeating {
  /** Starts no other step, and waits for the one under way. */
  stop(): Promise<void>
}

/** Runs `step` again and again, each time `pauseMs` after the last one has ended. A step handles its own failures. */
export function repeat(pauseMs: number, step: () => Promise<void>): Repeating {
  let timer: NodeJS.Timeout | undefined
  let running: Promise<void> = Promise.resolve()
  let stopped = false
  const again = () => {
    timer = setTimeout(() => {
      running = step().finally(() => {
        if (!stopped) again()
      })
    }, pauseMs)
  }
  again()
  return {
    stop: async () => {
      stopped = true
      clearTimeout(timer)
      await running
    },
  }
}
