// Reads the reports of the suites, `report.mjs REPORT…`: prints the slowest files and tests of each run and, as its last line, the counts.
import { readFileSync } from 'node:fs'

const reports = process.argv.slice(2).map((path) => JSON.parse(readFileSync(path, 'utf8')))
const isFailed = ({ status }) => status === 'failed'
/** A file that broke before its tests counts as one failed test. */
const isBroken = (file) => isFailed(file) && !file.assertionResults.some(isFailed)

const print = (seconds, name) => console.log(`${seconds.toFixed(1).padStart(7)} s  ${name}`)
const fileOf = (path) => path.slice(path.indexOf('/test/') + 1)
for (const { testResults } of reports) {
  const files = testResults.map(({ name, startTime, endTime }) => ({
    seconds: (endTime - startTime) / 1000,
    name: fileOf(name),
  }))
  const tests = testResults.flatMap(({ name, assertionResults }) =>
    assertionResults.map(({ duration, fullName }) => ({
      seconds: (duration ?? 0) / 1000,
      name: `${fileOf(name)}: ${fullName}`,
    })),
  )
  for (const [what, all] of Object.entries({ files, tests })) {
    console.log(`The ten slowest ${what} of a run:`)
    const slowest = all.toSorted((a, b) => b.seconds - a.seconds).slice(0, 10)
    for (const { seconds, name } of slowest) print(seconds, name)
  }
}
const sum = (count) => reports.reduce((total, report) => total + count(report), 0)
const passed = sum((report) => report.numPassedTests)
const failed = sum((report) => report.numFailedTests + report.testResults.filter(isBroken).length)
const skipped = sum((report) => report.numPendingTests + report.numTodoTests)
console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`)
