// Reads the reports of the suites, `report.mjs REPORT…`: prints the thirty slowest tests and, as its last line, the counts.
import { readFileSync } from 'node:fs'

const SHOWN = 30

const reports = process.argv.slice(2).map((path) => JSON.parse(readFileSync(path, 'utf8')))
const isFailed = ({ status }) => status === 'failed'
/** A file that broke before its tests counts as one failed test. */
const isBroken = (file) => isFailed(file) && !file.assertionResults.some(isFailed)

const slowest = reports
  .flatMap(({ testResults }) => testResults)
  .flatMap(({ name, assertionResults }) =>
    assertionResults.map(({ duration, fullName }) => ({
      seconds: (duration ?? 0) / 1000,
      name: `${name.slice(name.indexOf('/test/') + 1)}: ${fullName}`,
    })),
  )
  .toSorted((a, b) => b.seconds - a.seconds)
  .slice(0, SHOWN)
console.log('The slowest tests:')
for (const { seconds, name } of slowest) console.log(`${seconds.toFixed(1).padStart(7)} s  ${name}`)

const sum = (count) => reports.reduce((total, report) => total + count(report), 0)
const passed = sum((report) => report.numPassedTests)
const failed = sum((report) => report.numFailedTests + report.testResults.filter(isBroken).length)
// `npm test` leaves out the tests that are marked as slow, which run in another suite.
const isSkipped = ({ status, tags = [] }) =>
  ['skipped', 'pending', 'todo'].includes(status) && !tags.includes('slow')
const skipped = sum(({ testResults }) =>
  testResults.reduce((count, file) => count + file.assertionResults.filter(isSkipped).length, 0),
)
console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`)
