// The pages that explain, and stay the same: how it works, the terms with a small picture each, and the
// method.
import { type Html, html } from './html.ts'
import { page } from './layout.ts'
import { type Site, linkTo } from './site.ts'
import { type TermKey, TERMS, term } from './terms.ts'

/** How it works, for readers who will not read the method. */
export function howPage(site: Site): Html {
  return page({
    site,
    title: 'How it works',
    description: 'How forecasts are scored, in five sentences.',
    path: '/view/how',
    kind: 'article',
    intro:
      'How this service finds out who forecasts best, and whether that is more than luck, in five sentences.',
    content: html`<ol class="steps">
<li>People and programs say how probable it is that something will happen, and every such forecast is kept with its time.</li>
<li>When the outcome is known, the ${term(site, 'brier', 'error')} of each forecast is compared with the errors that ${term(site, 'others', 'the others')} made on the same question at the same time.</li>
<li>${term(site, 'skill', 'Skill')} is the share of the error of the others’ average that was avoided: 0 is as good as that average, and 1 is perfect.</li>
<li>A few good answers can be luck, so every skill comes with a ${term(site, 'interval', 'bar')} on which the true skill may lie, and a ${term(site, 'title', 'certificate')} is given only when luck is a very unlikely reason, against the average of the others and against their median.</li>
<li>Everything that counts is published as a numbered ${term(site, 'release', 'release')}, by one method that is public too, so that anyone can work out each number again.</li>
</ol>
<p>Read on: the <a href="${linkTo(site, '/view/methodology')}">full method</a> with all formulas, the <a href="${linkTo(site, '/view/terms')}">terms</a>, and how to <a href="${linkTo(site, '/view/verify')}">check a record</a>.</p>`,
  })
}

/** Each word that a reader may not know, under an anchor of its own. */
export function termsPage(site: Site): Html {
  return page({
    site,
    title: 'Terms',
    description: 'What the words of these pages mean, in two sentences each, with what is good.',
    path: '/view/terms',
    kind: 'article',
    intro: html`This service says how well people and programs forecast. Here is what the words of its pages mean; the <a href="${linkTo(site, '/view/methodology')}">method</a> has everything exactly.`,
    content: html`<ul class="ways">
${TERMS.map(([key, { word }]) => html`<li><a href="#${key}">${word}</a></li>\n`)}</ul>
${TERMS.map(
  ([key, { word, meaning, range }]) => html`<section class="entry" aria-labelledby="${key}">
<h2 id="${key}">${word}</h2>
<p><strong>${meaning[0]}</strong> ${meaning[1]}</p>
${range !== undefined && html`<p class="mute">${range}</p>\n`}${PICTURES[key]}
</section>
`,
)}`,
  })
}

/** Renders the same Markdown that the service publishes. */
export async function methodologyPage(site: Site, text: string): Promise<Html> {
  // The parser of Markdown is large, and this page is rendered once.
  const { documentOf } = await import('./markdown.ts')
  const { title, sections, content } = documentOf(text)
  return page({
    site,
    title,
    description:
      'How forecasts are scored, completely: anyone with the data gets the published numbers to the last digit.',
    path: '/view/methodology',
    kind: 'article',
    alternates: { 'text/markdown': '/methodology' },
    intro: html`How the forecasts of people and programs are scored: the whole method with every formula, for readers who check it. <a href="${linkTo(site, '/view/how')}">How it works</a> has it in five sentences.`,
    content: html`<nav class="contents" aria-label="Contents"><ol>
${sections.filter(({ level }) => level === 2).map(({ anchor, heading }) => html`<li><a href="#${anchor}">${heading.replace(/^[0-9]+\. /, '')}</a></li>\n`)}</ol></nav>
<article class="document">
${content}</article>`,
    source: html`The same in <a href="${linkTo(site, '/methodology')}">Markdown</a>, its <a href="${linkTo(site, '/methodology/version')}">version and parameters</a> as JSON`,
  })
}

const WIDTH = 320

/** Draws a picture of a height whose result is said in words. */
function picture(height: number, title: string, result: string, marks: Html): Html {
  return html`<svg class="chart small" viewBox="0 0 ${WIDTH} ${height}" role="img">
<title>${title}</title>
<desc>${result}</desc>
${marks}
</svg>`
}

/** A skill's axis from −0.5 to +0.5 between two coordinates. */
const atSkill = (skill: number) => Number((160 + skill * 280).toFixed(1))

function bar(y: number, [lower, skill, upper]: readonly [number, number, number]): Html {
  return html`<path class="stretch" d="M${atSkill(lower)} ${y}H${atSkill(upper)}" /><g class="dots"><circle cx="${atSkill(skill)}" cy="${y}" r="4.5" /></g>`
}

const centred = (x: number, y: number, words: string) =>
  html`<text x="${x}" y="${y}" text-anchor="middle">${words}</text>`

/** A horizontal line with a tick at each of its ends. */
const axis = (y: number) => html`<g class="grid"><path d="M20 ${y}H300M20 ${y - 5}v10M300 ${y - 5}v10" /></g>`

/** A small picture a term, with made-up values. */
const PICTURES: Partial<Record<TermKey, Html>> = {
  skill: picture(
    64,
    'The scale of skill',
    'From 0, the average of the others, to 1, perfect; a dot at 0.3.',
    html`${axis(24)}
<g class="dots"><circle cx="104" cy="24" r="5" /></g>
${centred(104, 12, '+0.3')}
<text x="20" y="48">0: as good as</text><text x="20" y="62">the average</text>
<text x="300" y="48" text-anchor="end">1: perfect</text>`,
  ),
  interval: picture(
    72,
    'Two intervals',
    'The upper bar is above 0 altogether: hardly luck. The lower one holds 0: it may be luck.',
    html`<path class="zero" d="M160 2V56" />
${bar(16, [0.08, 0.2, 0.32])}
${bar(42, [-0.14, 0.1, 0.34])}
<text x="10" y="21">hardly luck</text><text x="10" y="47">may be luck</text>
${centred(160, 69, '0')}`,
  ),
  place: picture(
    84,
    'Three bars',
    'The first bar overlaps no other: place 1. The two below overlap: places 2 to 3, too close to call.',
    html`${bar(16, [0.28, 0.36, 0.46])}
${bar(42, [-0.02, 0.1, 0.22])}
${bar(68, [-0.12, 0.04, 0.18])}
<text x="10" y="21">1 of 3</text><text x="10" y="47">2–3 of 3</text><text x="10" y="73">2–3 of 3</text>`,
  ),
  brier: picture(
    60,
    'An error',
    'Somebody said 70\u00a0% and it happened: 0.3 away, which squared is 0.09.',
    html`${axis(20)}
<path class="stretch" d="M216 20H300" />
<g class="dots"><circle cx="216" cy="20" r="5" /></g>
${centred(258, 13, '0.3')}
${centred(216, 48, 'said 70\u00a0%')}
<text x="20" y="48">no</text><text x="300" y="48" text-anchor="end">yes</text>`,
  ),
  calibration: picture(
    176,
    'Calibration',
    'Two dots lie on the dashed line, where what was said is what happened. The third is above it: it happened more often than said.',
    html`<g class="grid"><path d="M70 10V140H200" /></g>
<path class="ideal" d="M70 140L200 10" />
<g class="dots"><circle cx="96" cy="114" r="5" /><circle cx="135" cy="75" r="5" /><circle cx="161" cy="23" r="5" /></g>
${centred(135, 160, 'what was said')}
<text x="210" y="24">dashed:</text><text x="210" y="40">perfect</text>
<text x="62" y="70" text-anchor="end">how</text><text x="62" y="86" text-anchor="end">often</text>`,
  ),
  discrimination: picture(
    72,
    'Discrimination',
    'What happened was given high probabilities, and what did not happen low ones.',
    html`${axis(36)}
<g class="dots"><circle cx="210" cy="36" r="5" /><circle cx="238" cy="36" r="5" /><circle cx="252" cy="36" r="5" /><circle cx="280" cy="36" r="5" /></g>
<g class="rings"><circle cx="40" cy="36" r="5" /><circle cx="68" cy="36" r="5" /><circle cx="82" cy="36" r="5" /><circle cx="124" cy="36" r="5" /></g>
${centred(245, 22, 'happened')}
${centred(78, 22, 'did not')}
<text x="20" y="64">said 0\u00a0%</text><text x="300" y="64" text-anchor="end">100\u00a0%</text>`,
  ),
  coverage: picture(
    60,
    'Coverage',
    'A forecast stood from a quarter of a question’s life on, and is compared up to three quarters of it: 50 %.',
    html`${axis(20)}
<path class="stretch" d="M90 20H230" />
${centred(160, 13, '50\u00a0%')}
<text x="20" y="48">opens</text><text x="300" y="48" text-anchor="end">closes</text>`,
  ),
  groups: picture(
    60,
    'Groups',
    'Seven questions in three groups: four of one event, two of another, and one alone.',
    html`<g class="grid"><rect x="30" y="8" width="100" height="26" rx="13" /><rect x="150" y="8" width="60" height="26" rx="13" /><rect x="230" y="8" width="40" height="26" rx="13" /></g>
<g class="dots"><circle cx="50" cy="21" r="5" /><circle cx="70" cy="21" r="5" /><circle cx="90" cy="21" r="5" /><circle cx="110" cy="21" r="5" /><circle cx="170" cy="21" r="5" /><circle cx="190" cy="21" r="5" /><circle cx="250" cy="21" r="5" /></g>
${centred(80, 52, 'one event')}
${centred(180, 52, 'another')}`,
  ),
}
