// Shows the progress of a long command on standard error: every second on a terminal, each line replacing the
// one before, and every ten seconds in a pipe.

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

/** The line. Counts seconds by ticks, so that it needs no clock. */
export class ProgressLine implements Disposable {
  readonly #output: Output
  readonly #stop: () => void
  readonly #percent: () => number | undefined
  #step = ''
  #seconds = 0
  #isShown = false

  /** @param percent The finished share of the step, if it is known. */
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
