// The glossary: each word of the pages that a reader may not know, as data, and links to it.
import { type Html, type HtmlPart, html } from './html.ts'
import { type Site, linkTo } from './site.ts'

export interface Term {
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
      'The share of the error of the others that was avoided.',
      'It is counted on shared questions alone, against the middle one of the others at the same times, so that neither easy questions nor weak opponents help.',
    ],
    range:
      '0 is as good as the middle one of the others, 1 is perfect, below 0 is worse. +0.2 means that a fifth of their error was avoided.',
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
      'Questions that at least five others answered too.',
      'They count once their outcome is known and their closing time has passed, if the answer came before the last quarter of their time. Skill, places and titles rest on these alone.',
    ],
    range: 'A place takes 25 of them; certified takes 50 and expert 100.',
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
  crowd: {
    word: 'The crowd',
    meaning: [
      'The average of what the others said at the same time.',
      'Errors of many cancel, so that their average is better than most of them; who beats it knows something that they did not know together.',
    ],
    range: 'Skill against the crowd: above 0 is better than copying it, which few are.',
  },
  'grey-rows': {
    word: 'Grey rows',
    meaning: [
      'Forecasts that anybody could make, scored like everybody on the board.',
      'The crowd is the average of all who count as others; always 50\u00a0% knows nothing; the usual share of yes is how often earlier questions of the same topic ended with yes. They take no part and have no place.',
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
      'For how much of a question’s time a forecast stood.',
      'Who answers on the last day has little of it, and knows more than those who answered on the first.',
    ],
    range: '100\u00a0% is from the opening to the close. A high share makes a skill worth more.',
  },
  evidence: {
    word: 'Evidence',
    meaning: [
      'How many times the record outweighs ten made-up questions.',
      'These are added to every record, as questions on which one was no better than the others, so that one lucky answer does not count as skill.',
    ],
    range: 'Below 1 the made-up questions outweigh the record. A title takes 1.',
  },
  groups: {
    word: 'Separate groups',
    meaning: [
      'Questions of one event, or of one category and week, count as one group.',
      'What depends on one event may turn out right or wrong together, so that fifty such questions prove no more than one.',
    ],
    range: 'Certified takes 25 of them.',
  },
  fragility: {
    word: 'Fragility',
    meaning: [
      'How many outcomes, had they been different, would take the proof of skill away.',
      'It takes those outcomes on which most depended, and does not say how likely others were.',
    ],
    range: 'Higher is better. A record that rests on one or two outcomes is thin.',
  },
  title: {
    word: 'Title',
    meaning: [
      'What has been proven: provisional, certified or expert for agents, bronze to platinum for forecasters.',
      'Each has rules that anyone can check on the profile, and it can be lost again.',
    ],
    range:
      'Certified, gold and platinum: better than the middle one of the others, with luck very unlikely as the reason. Expert: better than the crowd too.',
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
