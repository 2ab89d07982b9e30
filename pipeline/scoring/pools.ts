// Pools: entities that a chain of common questions of voices ties together. Scales, ranks and fields are made
// for each pool by itself (METHODOLOGY §3).
import { type Voices, isVoice } from './voices.ts'

/** The columns of a pair that pools are made from. */
export interface PooledPairs {
  rowCount: number
  columns: { question: Int32Array; entity: Int32Array; contested: Int32Array }
}

export interface Pools {
  /** The pool of each entity by its number, −1 for one without a contested pair. */
  ofEntity: Int32Array
  /** The pool of each question by its number, −1 for one on which nobody has a contested pair. */
  ofQuestion: Int32Array
  /** Of each pool the voice with the least id, which names it. */
  names: number[]
}

/**
 * Divides the voices and the questions on which anybody has a contested pair into connected components, with
 * an edge for each pair of a voice. Numbers of entities must be in the order of their ids within a kind;
 * `ids` decides between kinds.
 */
export function poolsOf(
  questionCount: number,
  voices: Voices,
  ids: readonly string[],
  { rowCount, columns }: PooledPairs,
): Pools {
  const { question, entity, contested } = columns
  const entityCount = voices.length
  const isContested = new Uint8Array(questionCount)
  const own = new Int32Array(entityCount)
  for (let row = 0; row < rowCount; row++) {
    if (contested[row] !== 1) continue
    isContested[question[row]!] = 1
    own[entity[row]!]! += 1
  }
  // Questions follow the entities.
  const parents = Int32Array.from({ length: entityCount + questionCount }, (_, node) => node)
  for (let row = 0; row < rowCount; row++) {
    const [number, member] = [question[row]!, entity[row]!]
    if (isVoice(voices, member) && isContested[number] === 1) join(parents, member, entityCount + number)
  }
  const roots = new Set<number>()
  for (let number = 0; number < questionCount; number++) {
    if (isContested[number] === 1) roots.add(rootOf(parents, entityCount + number))
  }
  // A voice that no contested question ties to anybody is in no pool.
  const least = new Map<number, number>()
  for (let member = 0; member < entityCount; member++) {
    const root = rootOf(parents, member)
    if (!isVoice(voices, member) || !roots.has(root)) continue
    const known = least.get(root)
    if (known === undefined || ids[member]! < ids[known]!) least.set(root, member)
  }
  const names = [...least.values()].sort((a, b) => (ids[a]! < ids[b]! ? -1 : 1))
  const poolOfRoot = new Map(names.map((name, pool) => [rootOf(parents, name), pool]))
  const ofQuestion = Int32Array.from({ length: questionCount }, (_, number) =>
    isContested[number] === 1 ? poolOfRoot.get(rootOf(parents, entityCount + number))! : -1,
  )
  const ofEntity = new Int32Array(entityCount).fill(-1)
  const counts = new Map<number, Map<number, number>>()
  for (let row = 0; row < rowCount; row++) {
    const member = entity[row]!
    if (contested[row] !== 1) continue
    if (isVoice(voices, member)) {
      ofEntity[member] = poolOfRoot.get(rootOf(parents, member))!
      continue
    }
    let pools = counts.get(member)
    if (!pools) counts.set(member, (pools = new Map()))
    const pool = ofQuestion[question[row]!]!
    pools.set(pool, (pools.get(pool) ?? 0) + 1)
  }
  // Pools are numbered in the order of their names, so that the least number wins a tie.
  for (const [member, pools] of counts) {
    const [[most]] = [...pools].sort(([a, m], [b, n]) => n - m || a - b) as [[number, number]]
    ofEntity[member] = most
  }
  return { ofEntity, ofQuestion, names }
}

function rootOf(parents: Int32Array, node: number): number {
  let root = node
  while (parents[root] !== root) root = parents[root]!
  while (parents[node] !== root) {
    const next = parents[node]!
    parents[node] = root
    node = next
  }
  return root
}

function join(parents: Int32Array, a: number, b: number): void {
  const [one, other] = [rootOf(parents, a), rootOf(parents, b)]
  if (one !== other) parents[Math.max(one, other)] = Math.min(one, other)
}
