// The page of the person who resolves questions. It has no data: its script asks the operator's calls for it,
// with a key that the person enters.
import { OPERATOR_SCRIPT } from './assets.ts'
import { type Html, html } from './html.ts'
import { page } from './layout.ts'
import { type Site, linkTo } from './site.ts'

const LISTS = [
  ['overdue', 'Overdue', 'Nothing is overdue.'],
  ['closing', 'Closing within a day', 'Nothing closes within a day.'],
  ['opening', 'Opening within a week', 'Nothing opens within a week.'],
  ['done', 'Found by id, or done just now', 'Nothing yet.'],
] as const

/** Also the buttons of a question, by the name of their action. */
const ACTIONS = [
  ['yes', 'Yes', 'y', 'resolve as yes'],
  ['no', 'No', 'n', 'resolve as no'],
  ['annul', 'Annul', 'a', 'annul: the question scores nobody'],
  ['withdraw', 'Withdraw', 'w', 'withdraw the outcome'],
  ['close', 'New close', 'c', 'correct the close'],
] as const

const KEYS = [
  ['j or ↓, k or ↑', 'the next question, the one before'],
  ...ACTIONS.map(([, , key, what]) => [key, what] as const),
  ['Enter', 'confirm'],
  ['Escape', 'cancel'],
  ['/', 'find a question by its id'],
  ['r', 'read the lists again'],
  ['?', 'these keys'],
] as const

/** A field that browsers for dates would show in an order of their own, which is not that of the lists. */
const INSTANT = html`pattern="\\d{4}-\\d\\d-\\d\\d[ T]\\d\\d:\\d\\d(:\\d\\d)?" title="year-month-day hour:minute" autocomplete="off" spellcheck="false" required`

export function operatorPage(site: Site): Html {
  return page({
    site,
    title: 'Resolve questions',
    description: 'For the operator of this service: resolve questions that are due, or correct them.',
    path: '/operator',
    isIndexed: false,
    scripts: [OPERATOR_SCRIPT],
    intro:
      'For the operator, who runs this service: say how the questions ended that people and programs have forecast. Every action first says what it will do, and asks once.',
    content: html`<p><strong>An outcome shows everyone’s forecasts of its question.</strong> If it was said by mistake, withdrawing it takes back the scores, and not what others have read and kept.</p>
<noscript><div class="state"><p>This page needs JavaScript. Without it, <code>fvs import resolutions</code> and the <a href="${linkTo(site, '/docs')}">calls of the operator</a> do the same.</p></div></noscript>
<div id="operator" data-mount="${linkTo(site, '')}" hidden>
<form class="panel" id="enter">
<label>The operator’s key <small>this page keeps it until you leave or reload, and sends it to this service alone</small><input name="key" type="password" autocomplete="off" autocapitalize="none" spellcheck="false" required></label>
<p><button>Show what is due</button></p>
</form>
<div id="work" hidden>
<div class="filters">
<form id="find"><label>A question by its id <input name="id" autocomplete="off" autocapitalize="none" spellcheck="false" required></label><button>Find</button></form>
<button type="button" id="again">Read again</button>
<button type="button" id="help">Keys</button>
<button type="button" id="leave">Forget the key</button>
</div>
${LISTS.map(
  ([name, heading, none]) => html`<section aria-labelledby="${name}">
<h2 id="${name}">${heading} <span class="mute"></span></h2>
<p class="mute">${none}</p>
<ul class="tasks" data-list="${name}"></ul>
</section>
`,
)}</div>
<p class="said" role="status"></p>
<template id="task"><li><div class="task" role="group" tabindex="-1">
<p class="asked"><a target="_blank" rel="noopener"></a></p>
<p class="mute"></p>
<p class="acts">${ACTIONS.map(([name, label, key]) => html`<button type="button" data-act="${name}" aria-keyshortcuts="${key}">${label}</button>`)}</p>
</div></li></template>
<dialog id="ask" aria-labelledby="ask-what"><form class="panel">
<h2 id="ask-what"></h2>
<label data-field="closes_at">The new close <small>UTC, as in 2026-01-31 12:00</small><input name="closes_at" ${INSTANT}></label>
<label data-field="resolved_at">When the outcome became known <small>UTC, as in 2026-01-31 12:00</small><input name="resolved_at" ${INSTANT}></label>
<label data-field="reason">Reason <small>public, if a release has scored the question</small><input name="reason" maxlength="500" autocomplete="off"></label>
<div id="ask-effect" role="status"></div>
<p class="acts"><button>Confirm</button><button type="button" value="cancel">Cancel</button></p>
</form></dialog>
<dialog id="keys" aria-labelledby="keys-heading"><form method="dialog">
<h2 id="keys-heading">Keys</h2>
<table class="record"><tbody>${KEYS.map(([key, what]) => html`<tr><th scope="row"><kbd>${key}</kbd></th><td>${what}</td></tr>\n`)}</tbody></table>
<p><button>Close</button></p>
</form></dialog>
</div>`,
  })
}
