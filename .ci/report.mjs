// Reads the reports of the suites, `report.mjs REPORT…`: prints the slowest tests and, as its last line, the counts.
import { readFileSync } from 'node:fs'
import { basename } from 'node:path'

const reports = process.argv.slice(2).map((path) => ({ path, ...JSON.parse(readFileSync(path, 'utf8')) }))
const isFailed = ({ status }) => status === 'failed'
/** A file that broke before its tests counts as one failed test. */
const isBroken = (file) => isFailed(file) && !file.assertionResults.some(isFailed)

const tests = reports.flatMap(({ path, testResults }) =>
  testResults.flatMap(({ assertionResults }) =>
    assertionResults.map(({ duration, fullName }) => ({
      seconds: (duration ?? 0) / 1000,
      name: `${basename(path, '.json')}: ${fullName}`,
    })),
  ),
)
console.log('The ten slowest tests of all suites, and of npm test:')
const slowest = (from) => from.toSorted((a, b) => b.seconds - a.seconds).slice(0, 10)
for (const { seconds, name } of [
  ...slowest(tests),
  ...slowest(tests.filter((each) => each.name.startsWith('unit: '))),
])
  console.log(`${seconds.toFixed(1).padStart(7)} s  ${name}`)
const sum = (count) => reports.reduce((total, report) => total + count(report), 0)
const passed = sum((report) => report.numPassedTests)
const failed = sum((report) => report.numFailedTests + report.testResults.filter(isBroken).length)
const skipped = sum((report) => report.numPendingTests + report.numTodoTests)
console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`)
