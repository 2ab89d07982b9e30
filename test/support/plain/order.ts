// The order of ids: as byte strings (METHODOLOGY §3, small print).

export function inByteOrder(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b))
}
