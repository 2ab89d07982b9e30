// What a client can do, one thing after another. It prints what each came to, as operations.py does.
import { Client, normalise } from 'forecast-verification-client'

const { CLIENT_URL, CLIENT_VKEY, CLIENT_WORLD } = process.env
const { agent, open, other, unknown } = JSON.parse(CLIENT_WORLD)
const told = []
let ids = 0
const client = new Client({
  url: CLIENT_URL,
  vkeys: [CLIENT_VKEY],
  newId: () => `an-id-that-is-long-enough-${(ids += 1)}`,
  pause: (ms) => Promise.resolve(told.push({ pause: ms / 1000 })),
})

async function tell(what, work) {
  try {
    told.push({ what, came: await work() })
  } catch ({ name, message, status, type, evidence }) {
    told.push({ what, failed: name, message, status, type, ...evidence })
  }
}
const all = (items) => Array.fromAsync(items)
const said = (question_id, probability) => ({ question_id, probability })

await tell('register', () => client.register({ name: 'a bot', model_type: 'example' }))
await tell('questions', () => all(client.questions({ status: 'open', limit: 1 })))
await tell('no question', () => all(client.questions({ status: 'upcoming', q: 'nothing & “more”' })))
await tell('submit', () =>
  client.submit([{ ...said(open, 0.7), rationale: 'Because “é”.' }, said(other, 0.2), said(unknown[0], 0.5)]),
)
await tell('submit many', () =>
  client.submit(
    unknown.map((id) => said(id, 0.5)),
    'a-key-of-the-caller-that-is-long-enough',
  ),
)
await tell('current', () => all(client.forecasts()))
await tell('history', () => all(client.forecasts({ history: 'true' })))
await tell('withdraw', () => client.withdraw(other))
await tell('withdraw again', () => client.withdraw(other))
await tell('submit what is wrong', () => client.submit([said(open, 2)]))
await tell('submit beside another', () => client.submit([said(open, 0.6)]))
await tell('submit too much', () => client.submit([said(open, 0.5)]))
await tell('own scores', () => all(client.scores()))
await tell('scores of another', () => all(client.scores(agent, { limit: 26 })))
for (const kind of ['verification', 'metrics', 'rankings', 'advanced-metrics'])
  await tell(kind, () => client.record(kind, agent))
await tell('a record that was changed', () => client.record('verification', agent))
await tell('a record without a proof', () => client.record('metrics', agent))
await tell('a receipt that was changed', () => client.submit([said(open, 0.4)]))
await tell('feed', async () => {
  const pages = []
  for await (const page of client.feed()) if (pages.push(page) === 2) return pages
})
await tell('event', () => client.submitEvent('an event', { [other]: 0.25 }, { strict: true }))
await tell('another event', () => client.submitEvent('no/event', { [other]: 0.25 }))
const options = { a: 0.5, b: 1, c: 0.5 }
for (const kind of ['exclusive', 'at_most_one', 'ordered', 'independent'])
  await tell(kind, () => normalise(options, kind))
await tell('no option', () => normalise({ a: 0, b: 0 }, 'exclusive'))
await tell('no answer', () => all(client.questions()))
await tell('a redirect', () => all(client.questions()))
await tell('verifies', () => client.verifies)
console.log(JSON.stringify(told))
