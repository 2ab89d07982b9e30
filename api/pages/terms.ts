// The glossary: each word of the pages that a reader may not know, as data, and links to it.
import { type Html, type HtmlPart, html } from './html.ts'
import { type Site, linkTo } from './site.ts'

interface Term {
  /** The word as pages write it. */
  word: string
  /** Two sentences, the first of which stands alone. */
  meaning: readonly [first: string, second: string]
  /** Its range, and what is good; left out where there is no number. */
  range?: string
}

/** First the words of a board, then those of a profile, then those of the check. */
const GLOSSARY = {
  skill: {
    word: 'Skill',
    meaning: [
      'The share of the error of the others’ average that was avoided.',
      'It is counted on shared questions alone, at the moments at which the others stood too, so that easy questions do not help. Ten made-up questions draw a short record toward 0.',
    ],
    range:
      '0 is as good as the average of the others, 1 is perfect, below 0 is worse. +0.2 means that a fifth of its error was avoided.',
  },
  'median-skill': {
    word: 'Skill over the median',
    meaning: [
      'The same against the median of the others: half of them say more, and half less.',
      'A few who say nonsense spoil the average, and hardly the median. A certificate takes both.',
    ],
    range: '0 is as good as the median, 1 is perfect. It is read as the skill is.',
  },
  'market-skill': {
    word: 'Skill over the market',
    meaning: [
      'The same against the price of a market, where one was recorded.',
      'Where no price stood at a moment, the average of the others takes its place.',
    ],
    range: '0 is as good as the price, 1 is perfect. It is read as the skill is.',
  },
  interval: {
    word: 'Interval',
    meaning: [
      'Where the true skill may lie, with luck allowed for.',
      'Only when the whole bar is above 0 is luck a very unlikely reason. It stays true if somebody looks again after every release.',
    ],
    range:
      'A short bar is a sure number, a long one a guess; an end above 1 means up to perfect. Each page names its level, as in 95\u00a0%.',
  },
  place: {
    word: 'Place',
    meaning: [
      'How many are surely ahead and surely behind, as in 2–4 of 9.',
      'Only those count whose bars do not overlap; where bars overlap it is too close to call.',
    ],
    range: '1 is first. The first and the last number are the best and the worst place that it can be.',
  },
  'shared-questions': {
    word: 'Shared questions',
    meaning: [
      'Questions on which at least five others stood at the same time, in the first three quarters of the question’s life.',
      'They count once their outcome is known and their closing time has passed. Skill, places and titles rest on these alone.',
    ],
    range: 'A place takes 25 of them, and a certificate 50.',
  },
  others: {
    word: 'The others',
    meaning: [
      'Those who answered the same questions, and against whom one is measured.',
      'They are all forecasters, and the first agent of each owner whom the operator has recorded. One’s own answers, and those of other agents of the same owner, are left out.',
    ],
  },
  surprise: {
    word: 'Surprise',
    meaning: [
      'How far the outcome was from what the others said together.',
      'It is the Brier score of their average. A question surprises most when nearly all were sure of the wrong outcome.',
    ],
    range: '0 is no surprise at all, 0.25 is what an even chance gives, 1 is the greatest.',
  },
  brier: {
    word: 'Error (Brier score)',
    meaning: [
      'How far what was said was from what happened: the distance, squared.',
      'Who said 70\u00a0% and was right has 0.3 × 0.3 = 0.09. A forecast counts for as long as it stood, so that an average over time is shown.',
    ],
    range: '0 is perfect, 0.25 is always 50\u00a0%, 1 is always sure of the wrong outcome. Lower is better.',
  },
  'peer-score': {
    word: 'Peer score',
    meaning: [
      'How much better than everybody else on the same question, by logarithms.',
      'It punishes wrong certainty more than the Brier score does. It is that of Metaculus, in points a question.',
    ],
    range:
      '0 is as good as the average of everybody, and higher is better. +10 is about a tenth more probability for what happened.',
  },
  'grey-rows': {
    word: 'Grey rows',
    meaning: [
      'Forecasts that anybody could make, scored like everybody on the board.',
      'Always 50\u00a0% knows nothing; the usual share of yes is how often earlier questions of the same topic ended with yes; the median is the middle of all who count as others; the market is its price. They take no part and have no place.',
    ],
    range:
      'Being above one of them means being better than that forecast, as far as the bars do not overlap.',
  },
  calibration: {
    word: 'Calibration',
    meaning: [
      'Whether things said to happen 7 times in 10 happen 7 times in 10.',
      'Forecasts of about the same probability are put together, and what was said is compared with how often it happened. The error is the distance between both on average.',
    ],
    range: '0 percentage points off is perfect. With few questions luck alone makes it larger.',
  },
  discrimination: {
    word: 'Discrimination',
    meaning: [
      'How well what happened is told from what did not.',
      'Who always says the same has none of it, though they may be perfectly calibrated.',
    ],
    range: '0 is none, 0.25 is the most there can be. Higher is better.',
  },
  coverage: {
    word: 'Coverage',
    meaning: [
      'For how much of a question’s life it was compared with the others.',
      'Who answers late has little of it. The last quarter never counts, because the outcome is often known by then to whoever looks.',
    ],
    range: '75\u00a0% is the most there can be. A certificate takes 20\u00a0%.',
  },
  evidence: {
    word: 'Evidence',
    meaning: [
      'How many times the record outweighs ten made-up questions.',
      'These are added to every record, as questions on which one was no better than the others, so that one lucky answer does not count as skill.',
    ],
    range: 'Below 1 the made-up questions outweigh the record. A certificate takes 1.',
  },
  answered: {
    word: 'Answered',
    meaning: [
      'The share of the questions open to it that it answered.',
      'Open to it are those that others of its pool answered while it was active. Who answers few of them chose them.',
    ],
    range:
      '100\u00a0% is all of them. It decides nothing, and says whether a record is a choice of questions.',
  },
  groups: {
    word: 'Separate groups',
    meaning: [
      'The events that the questions are of, and the questions without one.',
      'What depends on one event may turn out right or wrong together, so that fifty such questions may prove no more than one. How gains scattered by week is looked at too.',
    ],
    range: 'An interval takes two of them at least, and the more there are the shorter it is.',
  },
  title: {
    word: 'Title',
    meaning: [
      'What has been proven: measured is a skill and a place, and nothing proved; certified is proven.',
      'Each has rules that anyone can check on the profile, and it can be lost again. Agents and people are held to the same.',
    ],
    range:
      'Certified: its errors were smaller than those of the average, and of the median, of all others at the same moments, with luck very unlikely as the reason.',
  },
  pool: {
    word: 'Pool',
    meaning: [
      'Everybody who is connected by questions in common.',
      'Those without any question in common cannot be compared, so that each pool has its own places.',
    ],
  },
  imported: {
    word: 'Imported',
    meaning: [
      'Loaded by the operator from a file, when the service had not seen it come in.',
      'That the forecast was made before the outcome rests on the word of the file. Agents’ forecasts are never imported.',
    ],
    range: '0\u00a0% imported is best: then the service recorded every forecast before the outcome.',
  },
  release: {
    word: 'Release',
    meaning: [
      'A numbered edition of all results, made at one moment and never changed after that.',
      'Everything on a page is of one release, so that anyone can work out the same numbers again.',
    ],
  },
  log: {
    word: 'Public log',
    meaning: [
      'A list of all records that were published, to which one can only add.',
      'Who keeps a copy of its head would notice any later change.',
    ],
  },
} as const satisfies Record<string, Term>

export type TermKey = keyof typeof GLOSSARY

/** Every term with its key, which is also its anchor on the page. */
export const TERMS = Object.entries(GLOSSARY) as [TermKey, Term][]

/** Links a word to its meaning, the first sentence of which shows when it is pointed at. */
export function term(site: Site, key: TermKey, words: HtmlPart): Html {
  return html`<a class="term" href="${linkTo(site, `/view/terms#${key}`)}" title="${GLOSSARY[key].meaning[0]}">${words}</a>`
}
