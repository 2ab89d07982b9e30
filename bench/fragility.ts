// Measures how long counting the outcomes takes that the skill of one entity hangs on, beside the two skills
// themselves, and beside adding all up again after each outcome.
import { parseArgs } from 'node:util'
import { sfc32 } from '../jobs/simulation/random.ts'
import { fragilityOf } from '../pipeline/scoring/fragility.ts'
import { METHODOLOGY } from '../pipeline/scoring/methodology.ts'
import { alphaOf, skillAgainst } from '../pipeline/scoring/skill.ts'
import { randomRecord } from '../test/support/worlds/random-record.ts'

const { values } = parseArgs({ options: { runs: { type: 'string', default: '20' } } })
const alpha = alphaOf(METHODOLOGY, null)

for (const questions of [100, 1000, 10_000]) {
  const shape = { questions, clusters: questions, error: 0.3, othersError: 1.2, raised: 1 }
  const pairs = randomRecord(sfc32(1), shape)
  const skills = () => ({
    skill: skillAgainst(METHODOLOGY, pairs, pairs.standard),
    strict: skillAgainst(METHODOLOGY, pairs, pairs.strict),
  })
  const shown = skills()
  const turned = fragilityOf(METHODOLOGY, pairs, alpha, shown)!
  const countMs = leastMs(() => fragilityOf(METHODOLOGY, pairs, alpha, shown))
  const skillsMs = leastMs(skills)
  console.log(
    `${questions} contested questions, of which ${turned} are turned: ${countMs.toFixed(2)} ms, the skills alone ` +
      `${skillsMs.toFixed(2)} ms, all anew ${turned} times ${(turned * skillsMs).toFixed(0)} ms`,
  )
}

function leastMs(work: () => unknown): number {
  let least = Infinity
  for (let run = 0; run < Number(values.runs); run++) {
    const startedMs = performance.now()
    work()
    least = Math.min(least, performance.now() - startedMs)
  }
  return least
}
