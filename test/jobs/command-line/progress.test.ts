// The line of progress: how often it is written and how it looks, on a terminal and in a pipe.
import { expect, test } from 'vitest'
import { ProgressLine } from '../../../jobs/command-line/progress.ts'

function lineOn(isTTY: boolean, percent: () => number | undefined) {
  const written: string[] = []
  const started: { seconds: number; tick: () => void; stopped: boolean }[] = []
  const output = { isTTY, write: (text: string) => written.push(text) }
  const line = new ProgressLine(output, percent, (seconds, tick) => {
    const timer = { seconds, tick, stopped: false }
    started.push(timer)
    return () => (timer.stopped = true)
  })
  return { line, written, timer: started[0]! }
}

test('on a terminal each second, in the place of the line before, which is gone at the end', () => {
  const done: { percent?: number } = {}
  const { line, written, timer } = lineOn(true, () => done.percent)
  expect(timer.seconds).toBe(1)
  timer.tick()
  expect(written).toEqual([])
  line.step('reading a.csv')
  timer.tick()
  done.percent = 41.9
  timer.tick()
  line[Symbol.dispose]()
  expect(timer.stopped).toBe(true)
  expect(written).toEqual([
    '\r\u001b[Kfvs: reading a.csv, 2 s',
    '\r\u001b[Kfvs: reading a.csv (41 %), 3 s',
    '\r\u001b[K',
  ])
})

test('in a pipe every ten seconds, on a line of its own', () => {
  const { line, written, timer } = lineOn(false, () => undefined)
  expect(timer.seconds).toBe(10)
  line.step('writing')
  timer.tick()
  timer.tick()
  line[Symbol.dispose]()
  expect(written).toEqual(['fvs: writing, 10 s\n', 'fvs: writing, 20 s\n'])
})
