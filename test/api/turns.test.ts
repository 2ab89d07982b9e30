// Work that waits for its turn: how much waits, whose turn is next, and who has gone.
import { expect, test } from 'vitest'
import { type Asker, SERVICE, TurnLost, Turns } from '../../api/turns.ts'

const asker = (address: string): Asker & { socket: { destroyed: boolean } } => ({
  ...SERVICE,
  networks: [{ name: address }],
  socket: { destroyed: false },
})

/** Keeps the only place, and notes who has a turn. */
function busy({ mostWaiting = 20, mostOfAddress = 20 } = {}) {
  const turns = new Turns({ atOnce: 1, mostWaiting, mostOfAddress })
  const began: string[] = []
  const first = Promise.withResolvers<void>()
  const all = [turns.run(SERVICE, () => first.promise)]
  const ask = (name: string, whose = asker(name[0]!)) => {
    const done = turns.run(whose, () => void began.push(name))
    all.push(done.catch(() => undefined))
    return done
  }
  const end = async () => {
    first.resolve()
    await Promise.all(all)
    return began
  }
  return { turns, ask, end }
}

test('addresses have their turns one after the other', async () => {
  const { ask, end } = busy()
  for (const name of ['a1', 'a2', 'a3', 'b1', 'c1', 'b2']) void ask(name)
  expect(await end()).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3'])
})

test('an address has a share of what waits', async () => {
  const { ask, end } = busy({ mostOfAddress: 2 })
  void ask('a1')
  void ask('a2')
  await expect(ask('a3')).rejects.toMatchObject({ kind: 'unavailable', expose: true, retryAfterS: 5 })
  void ask('b1')
  expect(await end()).toEqual(['a1', 'b1', 'a2'])
})

test('a full queue takes another address in, for the last of the one with most', async () => {
  const { ask, end } = busy({ mostWaiting: 3 })
  void ask('a1')
  void ask('a2')
  const last = ask('a3')
  void ask('b1')
  await expect(last).rejects.toThrow(TurnLost)
  await expect(ask('b2')).rejects.toThrow('too many calls wait')
  expect(await end()).toEqual(['a1', 'b1', 'a2'])
})

test('nothing is done for who has gone, and it takes no place', async () => {
  const { ask, end } = busy({ mostWaiting: 2 })
  const gone = asker('a')
  const lost = ask('a1', gone)
  void ask('b1')
  gone.socket.destroyed = true
  void ask('c1')
  await expect(lost).rejects.toThrow('the caller has gone')
  expect(await end()).toEqual(['b1', 'c1'])
})

test('work that fails gives its place to the next', async () => {
  const turns = new Turns({ atOnce: 1, mostWaiting: 5, mostOfAddress: 5 })
  const failing = turns.run(SERVICE, () => Promise.reject(new Error('no')))
  const next = turns.run(SERVICE, () => 'done')
  await expect(failing).rejects.toThrow('no')
  expect(await next).toBe('done')
  expect(turns.isEmpty).toBe(true)
})

test('an answer that has begun goes on, however many others wait', async () => {
  const turns = new Turns({ atOnce: 1, mostWaiting: 2, mostOfAddress: 1 })
  const began: string[] = []
  const note = (name: string) => () => void began.push(name)
  const part = turns.inParts(asker('a'))
  await part(note('first part'))
  const others = Promise.withResolvers<void>()
  const all = [turns.run(SERVICE, () => others.promise), turns.run(asker('b'), note('b'))]
  const lost = turns.run(asker('a'), note('a'))
  all.push(part(note('second part')))
  all.push(turns.run(asker('c'), note('c')))
  others.resolve()
  const [one] = await Promise.allSettled([lost, ...all])
  expect(one).toMatchObject({ status: 'rejected', reason: { kind: 'unavailable' } })
  expect(began).toEqual(['first part', 'b', 'second part', 'c'])
})
