// The signals that ask a serving process to stop: SIGTERM from a supervisor, SIGINT from a terminal.

/**
 * A terminal sends Ctrl-C to every process, and npm passes it on once more. Two signals within this time
 * count as one.
 */
const SAME_MS = 1_000

/** Resolves at the first signal. A later one ends the process at once. */
export function stopSignal(): Promise<void> {
  return new Promise((resolve) => {
    let firstMs: number | undefined
    const stop = (code: number) => () => {
      firstMs ??= performance.now()
      if (performance.now() - firstMs > SAME_MS) process.exit(code)
      resolve()
    }
    process.on('SIGINT', stop(130))
    process.on('SIGTERM', stop(143))
  })
}
