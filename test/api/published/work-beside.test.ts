// Work beside the answers: how much of it one turn of the event loop has, whoever it is for.
import { describe, expect, test } from 'vitest'
import { WorkBeside, heavyWork } from '../../../api/published/work-beside.ts'

/** Longer than work goes on in a turn. */
const LONG_MS = 3
const monotonicMs = () => performance.now()

function keepBusy(): void {
  const endsMs = monotonicMs() + LONG_MS
  while (monotonicMs() < endsMs);
}

/** Counts the turns of the event loop while something goes on. */
async function countingTurns<T>(work: (turn: () => number) => Promise<T>): Promise<T> {
  let turn = 0
  let next: NodeJS.Immediate
  const count = () => {
    turn += 1
    next = setImmediate(count)
  }
  count()
  try {
    return await work(() => turn)
  } finally {
    clearImmediate(next!)
  }
}

describe('long pieces', () => {
  test('of heavy work are in turns of their own, though all were asked for in one', async () => {
    const turns = await countingTurns((turn) => {
      const piece = () => {
        keepBusy()
        return turn()
      }
      return Promise.all([
        heavyWork(monotonicMs, piece),
        heavyWork(monotonicMs, piece),
        heavyWork(monotonicMs, piece),
      ])
    })
    expect(new Set(turns).size).toBe(3)
  })

  test('of one heavy work are in turns of their own', async () => {
    const turns = await countingTurns((turn) =>
      heavyWork(monotonicMs, async (besideAnswers) => {
        const all: number[] = []
        while (all.length < 3) {
          await besideAnswers()
          keepBusy()
          all.push(turn())
        }
        return all
      }),
    )
    expect(new Set(turns).size).toBe(3)
  })

  test('of work of many steps are in turns of their own', async () => {
    const turns = await countingTurns(async (turn) => {
      const work = new WorkBeside(monotonicMs, Infinity)
      const all: number[] = []
      while (all.length < 3 && (await work.goesOn())) {
        keepBusy()
        all.push(turn())
      }
      return all
    })
    expect(new Set(turns).size).toBe(3)
  })
})

describe('heavy work', () => {
  test('is done in the order in which it was asked for, each once the one before is done', async () => {
    const done: string[] = []
    const work = (name: string) => () => {
      keepBusy()
      done.push(name)
    }
    await Promise.all(['a', 'b', 'c'].map((name) => heavyWork(monotonicMs, work(name))))
    expect(done).toEqual(['a', 'b', 'c'])
  })

  test('that fails keeps back none that follows', async () => {
    const failing = heavyWork(monotonicMs, () => {
      throw new Error('damaged')
    })
    const following = heavyWork(monotonicMs, () => 'done')
    await expect(failing).rejects.toThrow('damaged')
    expect(await following).toBe('done')
  })
})

describe('work of many steps', () => {
  test('goes on while it has time', async () => {
    const work = new WorkBeside(monotonicMs, Infinity)
    keepBusy()
    expect(await work.goesOn()).toBe(true)
  })

  test('leaves the process nothing to do after each of its pieces, until a timer ends', async () => {
    const work = new WorkBeside(monotonicMs, Infinity)
    const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length
    for (let piece = 0; piece < 10; piece++) {
      const before = timers()
      const goesOn = work.goesOn()
      expect(timers()).toBe(before + 1)
      await goesOn
      keepBusy()
    }
  })

  test('does not once its time is over', async () => {
    expect(await new WorkBeside(monotonicMs, 0).goesOn()).toBe(false)
  })
})
