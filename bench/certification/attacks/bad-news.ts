// Withdrawing, or not coming in time, where the news is bad for what one would say.
import { ownedAgent, people } from '../entities.ts'
import { SimulatedField } from '../field.ts'
import { type News, drawNews, readNews, updating } from '../news.ts'
import { NOISE, type SimulatedForecast, readers, withdrawing } from '../questions.ts'
import { PROMISED, type Range, type Study, dailyLooks } from '../study.ts'
import type { Random } from '../../../jobs/sandbox/random.ts'

type Move = (random: Random, news: News) => SimulatedForecast[]

const judged = { entity: 0, noise: NOISE }
/** Whether the log-odds have moved away from the side that the forecast is on. */
const isBad = ({ ppm }: SimulatedForecast, news: News, share: number) =>
  ppm > 500_000 ? news.at(share) < news.at(0.25) : news.at(share) > news.at(0.25)

const withdraws: Move = (random, news) => {
  const first = readNews(random, news, judged, 0.25)
  return isBad(first, news, 0.5) ? [first, withdrawing(0, 0.5)] : [first]
}
/** Says at 70 % what it read at the first quarter, or comes too late. */
const comesLate: Move = (random, news) => {
  const first = readNews(random, news, judged, 0.25)
  return [
    {
      ...first,
      ...(isBad(first, news, 0.7)
        ? readNews(random, news, judged, 0.8)
        : { atMs: readNews(random, news, judged, 0.7).atMs }),
    },
  ]
}

function badNews(what: string, move: Move, updates: number, range: Range): Study {
  const peers = updates === 0 ? 'never update' : `update ${updates} times`
  return {
    worlds: 120,
    quick: 16,
    withoutSkill: 'The agent reads as its peers do.',
    simulate: (random) => {
      const field = new SimulatedField([ownedAgent('judged'), ...people(20)], [0])
      const all = readers(20, 1)
      return dailyLooks(field, (cluster) => {
        const news = drawNews(random)
        const forecasts = [...updating(random, news, all, updates), ...move(random, news)]
        return { forecasts, outcome: news.outcome, cluster }
      })
    },
    titles: [{ how: `${what} on bad news; peers ${peers}`, value: 'certified', range }],
  }
}

export const studies: Record<string, Study> = {
  'withdraws, stale': badNews('withdraws', withdraws, 0, PROMISED),
  withdraws: badNews('withdraws', withdraws, 3, PROMISED),
  'comes late': badNews('comes too late', comesLate, 3, PROMISED),
  'comes late, stale': badNews('comes too late', comesLate, 0, PROMISED),
}
