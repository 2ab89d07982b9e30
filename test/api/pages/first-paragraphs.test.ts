// The first paragraph of each page and of each document: it comes before all else, is short, and a reader who
// has never seen the project can say what the page is for.
import { readdirSync } from 'node:fs'
import { expect, test } from 'vitest'
import { allRoutes } from '../../../api/routes/all.ts'
import { METHODOLOGY } from '../../../pipeline/scoring/methodology.ts'
import { REPOSITORY, textOf } from '../../support/fenced-blocks.ts'
import { Client } from '../../support/http/service.ts'
import { startPageServices } from '../../support/worlds/page-world.ts'
import { PAGE_ROUTES } from '../../pages/routes.ts'

/** The project's own words, of docs/architecture.md and of the pages. */
const PRIVATE_WORDS = [...textOf('docs/architecture.md').matchAll(/^- \*\*(.+)\*\*: /gm)].flatMap(
  ([, words]) => words!.split(', '),
)
PRIVATE_WORDS.push('agent', 'forecaster', 'skill', 'title', 'measured', 'certified', 'certificate')
PRIVATE_WORDS.push('credential', 'Brier', 'calibration', 'coverage', 'evidence', 'payload')

/** What explains a private word to a reader in the paragraph that has it. */
const EXPLAINED: Record<string, RegExp> = {
  agent: /\bprograms?\b/,
  forecaster: /\bpeople\b|\bhow good each\b/,
  release: /\bnumbered\b|\bunder (a|one) number\b/,
  certified: /\bbetter than the others\b/,
  certificate: /\bbetter than the others\b/,
}

/** Names what a stranger would stumble over in a paragraph. */
function faultsOf(paragraph: string): string[] {
  const unknown = PRIVATE_WORDS.filter(
    (word) => new RegExp(`\\b${word}s?\\b`, 'i').test(paragraph) && !EXPLAINED[word]?.test(paragraph),
  )
  const sentences = paragraph.match(/[.?!](?=\s|$)/g)?.length ?? 0
  return [
    ...unknown.map((word) => `does not explain “${word}”`),
    ...(/[.?!:]$/.test(paragraph) ? [] : ['does not end']),
    ...(sentences > 3 ? [`has ${sentences} sentences`] : []),
  ]
}

test('a word of the project, and a long paragraph, are found', () => {
  expect(PRIVATE_WORDS.length).toBeGreaterThan(35)
  expect(faultsOf('Agents are programs, in the order of their skill.')).toEqual(['does not explain “skill”'])
  expect(faultsOf('The agents')).toEqual(['does not explain “agent”', 'does not end'])
  expect(faultsOf('One. Two. Three. Four.')).toEqual(['has 4 sentences'])
})

test('every page has one below its heading', { tags: ['slow'] }, async ({ onTestFinished }) => {
  const services = await startPageServices()
  onTestFinished(() => services.stop())
  for (const { name, service, path } of PAGE_ROUTES) {
    const { text } = await new Client(services[service]).get(path, { Accept: 'text/html' })
    const [, paragraph] = /<\/h1>\n<p class="intro">(.*)<\/p>\n/.exec(text)!
    // What is wrong with an address is said in the words of the API.
    const words = paragraph!.replaceAll(/<span class="sentence">.*<\/span>/g, 'It says what is wrong.')
    expect(faultsOf(words.replaceAll(/<[^>]*>/g, '')), name).toEqual([])
  }
})

test('the table has every page of the service', () => {
  const routes = allRoutes({ version: '1', methodology: METHODOLOGY, methodologyText: Buffer.from('# a') })
  const paths = PAGE_ROUTES.map(({ path }) => path.replace(/^\/sandbox/, '').split('?')[0]!)
  const pages = routes.filter(({ success }) => success.mediaType === 'text/html')
  expect(pages.length).toBeGreaterThan(15)
  const missing = pages.filter(({ path }) => {
    const form = new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`)
    return !paths.some((each) => form.test(each))
  })
  expect(missing.map(({ path }) => path)).toEqual([])
})

const DOCUMENTS = readdirSync(`${REPOSITORY}docs`).filter((file) => file.endsWith('.md'))

test.for(['README.md', ...DOCUMENTS.map((file) => `docs/${file}`)])('%s has one', (document) => {
  const [, paragraph] = /^# .*\n\n(.+(?:\n.+)*)\n/.exec(textOf(document))!
  expect(paragraph).not.toMatch(/^(#|\||- |\d\. |```|<!--)/)
  expect(faultsOf(paragraph!.replaceAll(/\]\([^)]*\)/g, ']').replaceAll(/\s+/g, ' '))).toEqual([])
})
