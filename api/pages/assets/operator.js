// The page of the operator: lists the questions that are due, and says for each action what it would do before
// it does it. The key is a variable of this script: it is kept nowhere else, and gone when the page is left.
;(() => {
  const root = document.getElementById('operator')
  const { mount } = root.dataset
  const find = (selector, within = root) => within.querySelector(selector)
  const [enter, work, statusLine, ask] = ['#enter', '#work', '.said', '#ask'].map((selector) =>
    find(selector),
  )
  const LISTS = ['overdue', 'closing', 'opening', 'done']

  let key
  /** The questions of each list, and how many there are. */
  let lists = {}
  /** The questions of the list `done`, the last one first. */
  let done = []
  /** The task that has the keys. */
  let current
  /** The time of the service when the lists were read. The clock of the browser may be wrong. */
  let readAt

  const inField = (instant) =>
    instant
      .slice(0, 19)
      .replace('T', ' ')
      .replace(/(:\d\d):00$/, '$1')
  const shown = (instant) => `${inField(instant)} UTC`
  const many = (count, one, more) => `${count.toLocaleString('en')} ${count === 1 ? one : more}`

  function apart(instant) {
    const minutes = Math.round(Math.abs(Date.parse(instant) - Date.parse(readAt)) / 60_000)
    if (minutes < 120) return many(minutes, 'minute', 'minutes')
    const hours = Math.round(minutes / 60)
    return hours < 48 ? many(hours, 'hour', 'hours') : many(Math.round(hours / 24), 'day', 'days')
  }

  const say = (words) => (statusLine.textContent = words)

  // Calls

  const REFUSED = {
    401: 'The key does not work.',
    403: 'The key may not do this.',
    429: 'Too many calls.',
    503: 'The service cannot do this now.',
  }

  async function call(method, path, body) {
    const options = { method, cache: 'no-store', credentials: 'omit', signal: AbortSignal.timeout(60_000) }
    const headers = path.startsWith('/operator/') ? { Authorization: `Bearer ${key}` } : {}
    if (body) headers['Content-Type'] = 'application/json'
    let answer
    try {
      answer = await fetch(mount + path, { ...options, headers, body: body && JSON.stringify(body) })
    } catch {
      const unsure = method === 'PUT' ? ' It may be done or not; doing it again does no harm.' : ''
      throw new Error(`The service did not answer: is there a network?${unsure}`)
    }
    const told = await answer.json().catch(() => ({}))
    if (answer.ok) return told
    const details = told.errors?.length ? told.errors.map(({ detail }) => detail) : [told.detail]
    const after = answer.headers.get('Retry-After')
    const words = [
      REFUSED[answer.status] ?? `The service answered ${answer.status}.`,
      details.filter(Boolean).map(sentence).join(' '),
      after === null ? '' : `Try again in ${many(Number(after), 'second', 'seconds')}.`,
    ]
    const error = new Error(words.filter(Boolean).join(' '))
    if (answer.status === 401) leave(error.message)
    throw error
  }

  const sentence = (text) => `${text[0].toUpperCase()}${text.slice(1).replace(/\.$/, '')}.`

  // Lists

  function whenOf({ opened_at: opens, closes_at: closes, outcome, category }, list) {
    const when = {
      overdue: `closed ${shown(closes)}, ${apart(closes)} ago`,
      closing: `closes ${shown(closes)}, in ${apart(closes)}`,
      opening: `opens ${shown(opens)}, in ${apart(opens)}; closes ${shown(closes)}`,
      done: `${outcome ? `outcome: ${outcome}` : 'no outcome'}; ${closes > readAt ? 'closes' : 'closed'} ${shown(closes)}`,
    }
    return category === null ? when[list] : `${category} · ${when[list]}`
  }

  function taskOf(question, list) {
    const item = find('#task').content.cloneNode(true)
    const task = find('.task', item)
    const link = find('a', task)
    link.textContent = question.title
    link.href = `${mount}/view/questions/${question.question_id}`
    link.id = `${list}-${question.question_id}`
    task.setAttribute('aria-labelledby', link.id)
    find('.mute', task).textContent = whenOf(question, list)
    find('[data-act=withdraw]', task).hidden = !question.outcome
    task.question = question
    for (const reached of task.querySelectorAll('a, button')) reached.tabIndex = -1
    return item
  }

  function show() {
    for (const name of LISTS) {
      const { count, questions } = name === 'done' ? { count: done.length, questions: done } : lists[name]
      const list = find(`[data-list=${name}]`)
      list.replaceChildren(...questions.map((question) => taskOf(question, name)))
      list.previousElementSibling.hidden = count > 0
      const rest = count > questions.length ? `, the first ${questions.length} are shown` : ''
      find(`#${name} span`).textContent = `${count.toLocaleString('en')}${rest}`
    }
    const due = ['overdue', 'closing', 'opening'].map((name) => lists[name].count)
    return `${due[0]} overdue, ${due[1]} closing within a day, ${due[2]} opening within a week.`
  }

  const tasks = () => [...work.querySelectorAll('.task')]

  function activate(task) {
    const setReach = (which, tabIndex) => {
      for (const reached of [which, ...which.querySelectorAll('a, button')]) reached.tabIndex = tabIndex
      which.classList.toggle('current', tabIndex === 0)
    }
    if (current) setReach(current, -1)
    current = task
    setReach(task, 0)
  }

  /** Moves the keys to the task at an index, or to the nearest one. */
  function moveTo(index) {
    const all = tasks()
    const task = all[Math.max(0, Math.min(index, all.length - 1))]
    if (!task) return find('#again').focus()
    activate(task)
    task.focus()
  }

  /** Reads the lists again, and leaves the focus where it was: on its question, or on the one after it. */
  async function read(words = '') {
    const before = tasks()
    const at = Math.max(0, before.indexOf(current))
    const { id } = before.length > 0 ? find('a', before[at]) : {}
    const { at: time, ...found } = await call('GET', '/operator/agenda')
    readAt = time
    lists = found
    current = undefined
    say(`${words} ${show()}`.trim())
    const same = tasks().findIndex((task) => find('a', task).id === id)
    moveTo(same < 0 ? at : same)
  }

  function leave(words = '') {
    key = undefined
    lists = {}
    done = []
    current = undefined
    for (const list of root.querySelectorAll('[data-list]')) list.replaceChildren()
    for (const dialog of root.querySelectorAll('dialog')) dialog.close()
    work.hidden = true
    enter.hidden = false
    enter.reset()
    say(words)
    enter.elements.key.focus()
  }

  const failed = (error) => say(error.message)

  // Actions

  const resolution =
    (outcome) =>
    (question, { resolved_at }) => ({
      resolutions: [{ question_id: question.question_id, outcome, resolved_at }],
    })
  const resolve = (as, outcome, effect) => ({
    title: `Resolve as ${as}?`,
    field: 'resolved_at',
    body: resolution(outcome),
    words: ({ title }, at) => `Resolves “${title}” as ${as}, known since ${shown(at)}${effect}.`,
    after: (question) => ({ ...question, outcome }),
    confirmation: ({ title }) => `“${title}” is resolved as ${as}.`,
  })
  const ACTS = {
    yes: resolve('yes', 'yes', ''),
    no: resolve('no', 'no', ''),
    annul: {
      ...resolve('annulled', 'annulled', ': it scores nobody'),
      title: 'Annul?',
      words: ({ title }) => `Annuls “${title}”: it scores nobody.`,
      confirmation: ({ title }) => `“${title}” is annulled.`,
    },
    withdraw: {
      ...resolve('open', 'open', ''),
      title: 'Withdraw the outcome?',
      words: ({ title, outcome }) => `Withdraws the outcome “${outcome}” of “${title}”, which then has none.`,
      after: (question) => ({ ...question, outcome: null }),
      confirmation: ({ title }) => `The outcome of “${title}” is withdrawn.`,
    },
    close: {
      title: 'Correct the close?',
      field: 'closes_at',
      body: ({ question_id, title, opened_at }, { closes_at }) => ({
        questions: [{ question_id, title, opened_at, closes_at }],
      }),
      words: ({ title, closes_at }, at) =>
        `Moves the close of “${title}” from ${shown(closes_at)} to ${shown(at)}.`,
      after: (question, { closes_at }) => ({ ...question, closes_at }),
      confirmation: ({ title }, at) => `“${title}” closes at ${shown(at)}.`,
    },
  }

  const form = find('form', ask)
  const effect = find('#ask-effect')
  /** The action that is asked about, and the rows whose effect is shown, as text. */
  let pendingAction
  let previewed

  const fieldOf = (name) => form.elements.namedItem(name)

  function bodyOf({ act, question }) {
    const instant = `${fieldOf(act.field).value.trim().replace(' ', 'T').padEnd(19, ':00')}Z`
    const reason = fieldOf('reason').value.trim()
    const rows = act.body(question, { [act.field]: instant })
    return { body: reason === '' ? rows : { ...rows, reason }, rows: JSON.stringify(rows), instant }
  }

  function tell(words, isRefused = false) {
    const lines = words.map((text) => {
      const line = document.createElement('p')
      line.textContent = text
      line.classList.toggle('no', isRefused)
      return line
    })
    effect.replaceChildren(...lines)
  }

  function begin(name) {
    if (!current || ask.open) return
    const { question } = current
    const act = ACTS[name]
    if (name === 'withdraw' && !question.outcome)
      return say(`“${question.title}” has no outcome to withdraw.`)
    pendingAction = { act, question, needsTime: name !== 'close' }
    previewed = undefined
    form.reset()
    tell([])
    find('#ask-what').textContent = act.title
    const isClose = name === 'close'
    showField('closes_at', isClose)
    showField('resolved_at', !isClose)
    showField('reason', isClose || question.outcome)
    fieldOf('reason').required = isClose
    fieldOf(act.field).value = inField(isClose ? question.closes_at : readAt)
    ask.showModal()
    find('button', form).textContent = isClose ? SHOW : 'Confirm'
    if (isClose) {
      fieldOf(act.field).focus()
    } else {
      find('button', form).focus()
      void previewNow(pendingAction)
    }
  }

  /** Asks for the time, which is when an outcome became known unless another is entered. */
  async function previewNow(mine) {
    mine.isUnderWay = true
    tell(ASKING)
    try {
      const { at: time } = await call('GET', '/operator/agenda?limit=1')
      if (pendingAction !== mine) return
      if (mine.needsTime) fieldOf(mine.act.field).value = inField(time)
      mine.needsTime = false
    } catch (error) {
      if (pendingAction === mine) tell([error.message], true)
      return
    } finally {
      mine.isUnderWay = false
    }
    await preview()
  }

  function showField(name, isShown) {
    find(`[data-field=${name}]`, form).hidden = !isShown
    // A hidden field must not keep the form from being sent.
    fieldOf(name).disabled = !isShown
  }

  const SHOW = 'Show what it does'
  const ASKING = ['Asking what it would do…']

  /** The columns that the actions change. */
  const EXPECTED = { outcome: true, resolved_at: true, closes_at: true }

  function effectsOf({ needs_reason: needsReason, corrects, parts: [part] }, { act, question }, instant) {
    if (needsReason) return ['A release has scored this question: a reason is needed.']
    if (part.bad > 0) return part.errors.map(({ detail }) => sentence(detail))
    const words = [act.words(question, instant)]
    if (act.field === 'resolved_at' && !question.outcome)
      words.push('It shows everyone’s forecasts of the question, for good, also if it is a mistake.')
    const { forecasts, entities } = part.made_void
    if (forecasts > 0) {
      const whose = many(entities, 'forecaster or agent', 'forecasters and agents')
      words.push(
        `${many(forecasts, 'forecast', 'forecasts')} of ${whose}, made later, no longer count${forecasts === 1 ? 's' : ''}.`,
      )
    }
    for (const { from, to } of corrects) {
      const then = to === 'open' ? 'takes that back' : `corrects that to ${to}`
      words.push(`A release has it as ${from}: the next release ${then}.`)
    }
    const others = Object.keys(part.changed_columns).filter((column) => !(column in EXPECTED))
    if (others.length > 0)
      words.push(`It also changes ${others.join(', ')}, which is another now: read again.`)
    if (part.unchanged > 0) words.push('It is so already: nothing changes.')
    return words
  }

  async function preview() {
    const mine = pendingAction
    const { body, rows, instant } = bodyOf(mine)
    const text = JSON.stringify(body)
    const isOld = () => pendingAction !== mine || JSON.stringify(bodyOf(mine).body) !== text
    tell(ASKING)
    try {
      const found = await call('POST', '/operator/preview', body)
      if (isOld()) return
      const isRefused = found.needs_reason || found.parts[0].bad > 0
      tell(effectsOf(found, mine, instant), isRefused)
      if (found.needs_reason || found.corrects.length > 0) showField('reason', true)
      if (found.needs_reason) {
        fieldOf('reason').required = true
        fieldOf('reason').focus()
      }
      if (isRefused) return
      previewed = rows
      find('button', form).textContent = 'Confirm'
    } catch (error) {
      if (!isOld()) tell([error.message], true)
    }
  }

  async function confirm() {
    const mine = pendingAction
    const { act, question } = mine
    const { body, instant } = bodyOf(mine)
    mine.isUnderWay = true
    tell(['Writing…'])
    try {
      const [kind] = Object.keys(body)
      await call('PUT', `/operator/${kind}`, body)
      const { question_id } = question
      done = [
        act.after(question, { [act.field]: instant }),
        ...done.filter((one) => one.question_id !== question_id),
      ]
      if (pendingAction === mine) ask.close()
      await read(act.confirmation(question, instant)).catch((error) =>
        say(`${act.confirmation(question, instant)} ${error.message}`),
      )
    } catch (error) {
      if (pendingAction === mine && ask.open) tell([error.message], true)
      else say(`${act.title} ${error.message}`)
    } finally {
      mine.isUnderWay = false
    }
  }

  form.addEventListener('submit', (event) => {
    event.preventDefault()
    if (pendingAction.isUnderWay) return
    if (pendingAction.needsTime) void previewNow(pendingAction)
    else void (previewed === bodyOf(pendingAction).rows ? confirm() : preview())
  })
  form.addEventListener('input', ({ target }) => {
    if (target.name === pendingAction.act.field) pendingAction.needsTime = false
    // A reason changes no effect that was shown.
    if (target.name === 'reason' && previewed !== undefined) return
    previewed = undefined
    tell([])
    find('button', form).textContent = SHOW
  })
  find('[value=cancel]', form).addEventListener('click', () => ask.close())
  ask.addEventListener('close', () => {
    // The next action may have begun before this is told.
    if (ask.open) return
    pendingAction = undefined
    if (current?.isConnected) current.focus()
  })

  // The person

  const MOVES = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1 }
  const BY_KEY = { y: 'yes', n: 'no', a: 'annul', w: 'withdraw', c: 'close' }
  const OTHERS = {
    '?': () => find('#keys').showModal(),
    '/': () => find('#find input').focus(),
    r: () => read().catch(failed),
  }

  // The keys work where the focus is in the content of the page, and not while something is written.
  document.getElementById('main').addEventListener('keydown', (event) => {
    const { key: pressed, target } = event
    if (event.ctrlKey || event.altKey || event.metaKey || work.hidden) return
    if (target.closest('input, dialog')) return
    if (pressed in MOVES) moveTo(current ? tasks().indexOf(current) + MOVES[pressed] : 0)
    else if (pressed in BY_KEY) begin(BY_KEY[pressed])
    else if (pressed in OTHERS) OTHERS[pressed]()
    else return
    event.preventDefault()
  })
  work.addEventListener('focusin', ({ target }) => {
    const task = target.closest('.task')
    if (task && task !== current) activate(task)
  })
  work.addEventListener('click', ({ target }) => {
    const { act } = target.dataset
    if (!act) return
    activate(target.closest('.task'))
    begin(act)
  })

  enter.addEventListener('submit', async (event) => {
    event.preventDefault()
    key = enter.elements.key.value.trim()
    if (!/^[!-~]+$/.test(key)) return leave('This is no key.')
    say('Reading the lists…')
    try {
      await read()
      enter.reset()
      enter.hidden = true
      work.hidden = false
      moveTo(0)
    } catch (error) {
      failed(error)
    }
  })
  find('#find').addEventListener('submit', async (event) => {
    event.preventDefault()
    const { id } = event.target.elements
    const wanted = id.value.trim().toLowerCase()
    try {
      if (!/^[0-9a-f-]{36}$/.test(wanted))
        throw new Error(`“${wanted}” is no id of a question: it has 36 digits, letters a to f and hyphens.`)
      const found = await call('GET', `/questions/${wanted}`)
      done = [found, ...done.filter(({ question_id }) => question_id !== found.question_id)]
      show()
      id.value = ''
      say(`“${found.title}”: ${whenOf({ ...found, category: null }, 'done')}.`)
      const link = document.getElementById(`done-${found.question_id}`)
      moveTo(tasks().indexOf(link.closest('.task')))
    } catch (error) {
      failed(error)
    }
  })
  find('#again').addEventListener('click', () => read().catch(failed))
  find('#help').addEventListener('click', OTHERS['?'])
  find('#leave').addEventListener('click', () => leave('The key is forgotten.'))
  // A browser may keep the whole page to show it again.
  addEventListener('pagehide', () => leave())

  root.hidden = false
})()
