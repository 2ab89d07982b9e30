// What callers noticed of the switches, as lines to print.
import { SLOW_MS, type SwitchFigures, type Timed } from '../switch.ts'

const SLOWEST = 5

export function switchReport({ entities, atSwitch, between, replayed, ...figures }: SwitchFigures): string[] {
  const { wrong, knownAfterMs, longestTurnsMs, hostShare } = figures
  const fixed = (ms: readonly number[]) => ms.map((one) => one.toFixed(0)).join(', ')
  return [
    `\nSwitches: ${knownAfterMs.length} releases of ${entities} entities, published under a steady load`,
    ...linesOf('at a switch', atSwitch),
    ...linesOf('between', between),
    ...linesOf('the same answers from memory, by a bare server', replayed),
    `  ${wrong.length} wrong answers${wrong
      .slice(0, SLOWEST)
      .map((one) => `\n    ${one}`)
      .join('')}`,
    `  longest turns of the event loop, CPU ms: at a switch ${fixed(longestTurnsMs.atSwitch)}; between ${fixed(longestTurnsMs.between)}`,
    `  from publication to the first answer, ms: ${fixed(knownAfterMs)}`,
    `  the host took of the machine meanwhile: ${percent(hostShare.served)}; beside the bare server ${percent(hostShare.replayed)}`,
  ]
}

function percent(share: number): string {
  return `${(100 * share).toFixed(1)} %`
}

function linesOf(when: string, answers: readonly Timed[]): string[] {
  const slowestFirst = answers.toSorted((a, b) => b.tookMs - a.tookMs)
  const slow = answers.filter(({ tookMs }) => tookMs > SLOW_MS).length
  const at = (share: number) => slowestFirst[Math.floor(share * slowestFirst.length)]!.tookMs.toFixed(1)
  const named = slowestFirst
    .slice(0, SLOWEST)
    .map(({ path, tookMs }) => `    ${tookMs.toFixed(0)} ms ${path}`)
  const latest = Math.max(...answers.map(({ lateMs }) => lateMs))
  return [
    `  ${when}: ${answers.length} answers, ${slow} over ${SLOW_MS} ms; p50 ${at(0.5)} ms, p99 ${at(0.01)} ms; callers late by ${latest.toFixed(0)} ms at most; the slowest:`,
    ...named,
  ]
}
