import { expect, test } from 'vitest'
import { endOfTurn } from '../../../api/http/end-of-turn.ts'

test('those who wait for the end of a turn go on after all that was to do in it, right after one another', async () => {
  const done: string[] = []
  const waits = (name: string) =>
    endOfTurn().then(() => {
      done.push(name)
      process.nextTick(() => done.push(`what ${name} left to do`))
    })
  const all = [waits('the first'), waits('the second')]
  process.nextTick(() => done.push('the rest of the turn'))
  await Promise.all(all)
  expect(done).toEqual(['the rest of the turn', 'the first', 'the second'])
  await waits('one of the next turn')
  expect(done.slice(3)).toEqual([
    'what the first left to do',
    'what the second left to do',
    'one of the next turn',
  ])
})
