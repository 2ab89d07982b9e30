// Threads that answer: in order, and again after one has died.
import { expect, onTestFinished, test } from 'vitest'
import { Thread } from '../../pipeline/store/thread.ts'

/** A thread that hands each question to a function. */
function threadOf(answer: string): Thread<unknown, unknown> {
  const program =
    'import { parentPort } from "node:worker_threads"\n' +
    `const answer = ${answer}\n` +
    'parentPort.on("message", (question) => parentPort.postMessage(answer(question)))'
  const thread = new Thread<unknown, unknown>(new URL(`data:text/javascript,${encodeURIComponent(program)}`))
  onTestFinished(() => thread.close())
  return thread
}

test('a thread answers each who asks, one and the same thread all of them', async () => {
  const thread = threadOf('((asked) => (question) => [question, ++asked])(0)')
  const answers = await Promise.all(['a', 'b', 'c'].map((question) => thread.ask(question)))
  expect(answers).toEqual([
    ['a', 1],
    ['b', 2],
    ['c', 3],
  ])
  expect(await thread.ask('d')).toEqual(['d', 4])
})

test('a question that cannot be sent leaves those of others their own answers', async () => {
  const thread = threadOf('(question) => question')
  const before = thread.ask('before')
  expect(() => thread.ask(() => 'a function')).toThrow('could not be cloned')
  expect(await Promise.all([before, thread.ask('after')])).toEqual(['before', 'after'])
})

test('a thread that dies fails everything that waits for it, and each time another one is started', async () => {
  const thread = threadOf('() => { throw new Error("dead") }')
  for (const time of ['first', 'second']) {
    const asked = [thread.ask(1), thread.ask(2)]
    for (const { status } of await Promise.allSettled(asked)) expect(status, time).toBe('rejected')
    await expect(asked[0]).rejects.toMatchObject({ cause: { message: 'dead' } })
  }
})

test('a thread that is closed leaves those who wait without an answer, and not those who come later', async () => {
  const thread = threadOf('(question) => { while (question === "never"); return question }')
  const asked = thread.ask('never')
  thread.close()
  await expect(asked).rejects.toThrow('the thread has ended before it answered')
  expect(await thread.ask('again')).toBe('again')
})
