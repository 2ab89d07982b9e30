// The median of some figures, with the least and the largest of them.

export function median(figures: readonly number[]): number {
  const sorted = figures.toSorted((a, b) => a - b)
  return (sorted[(sorted.length - 1) >> 1]! + sorted[sorted.length >> 1]!) / 2
}

/** As `0.95 (0.91 to 0.97)`. */
export function spread(figures: readonly number[]): string {
  const [least, largest] = [Math.min(...figures), Math.max(...figures)]
  return `${median(figures).toFixed(2)} (${least.toFixed(2)} to ${largest.toFixed(2)})`
}
