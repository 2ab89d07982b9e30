// A line on standard error about what a long command is doing: every second on a terminal, where each
// replaces the one before, and every ten in a pipe.

/** Calls `tick` again and again, this many seconds apart, until the returned function is called. */
type Every = (seconds: number, tick: () => void) => () => void

const everySeconds: Every = (seconds, tick) => {
  const timer = setInterval(tick, seconds * 1000)
  timer.unref()
  return () => clearInterval(timer)
}

interface Output {
  isTTY?: boolean
  write(text: string): unknown
}

/** Seconds are counted by the ticks, so that no other clock is needed. */
export class ProgressLine implements Disposable {
  readonly #output: Output
  readonly #stop: () => void
  readonly #percent: () => number | undefined
  #step = ''
  #seconds = 0
  #isShown = false

  /** @param percent How much of the step is done, where that is known. */
  constructor(output: Output, percent: () => number | undefined, every: Every = everySeconds) {
    this.#output = output
    this.#percent = percent
    const seconds = output.isTTY === true ? 1 : 10
    this.#stop = every(seconds, () => {
      this.#seconds += seconds
      this.#show()
    })
  }

  step(step: string): void {
    this.#step = step
  }

  #show(): void {
    if (this.#step === '') return
    const percent = this.#percent()
    const done = percent === undefined ? '' : ` (${Math.floor(percent)} %)`
    const line = `fvs: ${this.#step}${done}, ${this.#seconds} s`
    this.#output.write(this.#output.isTTY === true ? `\r\u001b[K${line}` : `${line}\n`)
    this.#isShown = this.#output.isTTY === true
  }

  [Symbol.dispose](): void {
    this.#stop()
    if (this.#isShown) this.#output.write('\r\u001b[K')
  }
}
