// Pools: entities of one kind that a chain of common questions connects. Entities are ranked within their
// pool (METHODOLOGY §3).

/** The columns of pairs from which pools follow. */
export interface PooledPairs {
  rowCount: number
  columns: { question: Int32Array; entity: Int32Array; contested: Int32Array }
}

/**
 * Returns for each entity the name of its pool: the entity with the least id in it; −1 without a contested
 * pair. Entities must be numbered by kind, and within each kind in the order of their ids. `kinds` has 0 or 1
 * for the kind of each.
 */
export function poolsOf(
  questionCount: number,
  kinds: ArrayLike<number>,
  { rowCount, columns: { question, entity, contested } }: PooledPairs,
): Int32Array {
  // Number the questions of each kind after the entities, so that the least node of a component is an entity.
  const parents = Int32Array.from({ length: kinds.length + 2 * questionCount }, (_, node) => node)
  // Join each entity with the questions of its contested pairs.
  const pools = new Int32Array(kinds.length).fill(-1)
  for (let row = 0; row < rowCount; row++) {
    if (contested[row] !== 1) continue
    const member = entity[row]!
    pools[member] = member
    join(parents, member, kinds.length + kinds[member]! * questionCount + question[row]!)
  }
  // Name each pool by the root of its component.
  return pools.map((member) => (member < 0 ? -1 : rootOf(parents, member)))
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
