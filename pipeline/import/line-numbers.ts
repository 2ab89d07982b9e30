// Finds line numbers in an operator's file, for messages. A file without faults is not read for this.
import { createReadStream } from 'node:fs'

const NEWLINE = 0x0a
const RETURN = 0x0d
const QUOTE = 0x22

/** Returns the line numbers (from 1) at ascending byte offsets. */
export async function linesAt(path: string, offsets: readonly number[]): Promise<number[]> {
  const lines: number[] = []
  let line = 1
  let offset = 0
  for await (const chunk of chunksOf(path)) {
    for (const byte of chunk) {
      while (offset === offsets[lines.length]) lines.push(line)
      if (lines.length === offsets.length) return lines
      if (byte === NEWLINE) line += 1
      offset += 1
    }
  }
  while (lines.length < offsets.length) lines.push(line)
  return lines
}

/**
 * Returns the line numbers (from 1) of the given lines, counted from 0 without the lines `skipped`. Both
 * ascend.
 */
export function linesBetween(places: readonly number[], skipped: readonly number[]): number[] {
  let passed = 0
  return places.map((place) => {
    while (skipped[passed]! <= place + 1 + passed) passed += 1
    return place + 1 + passed
  })
}

/**
 * Returns the line numbers (from 1) on which the given records of a CSV file begin. Record numbers ascend,
 * and 0 is the first after the header. A quote opens a quoted field only at the field's start. A blank line
 * is a record only if `blankCounts`, and one that has a byte offset of `skipped` is none.
 */
export async function recordLines(
  path: string,
  records: readonly number[],
  {
    delimiter,
    blankCounts,
    skipped = [],
  }: { delimiter: string; blankCounts: boolean; skipped?: readonly number[] },
): Promise<number[]> {
  const delimiterByte = delimiter.charCodeAt(0)
  const lines: number[] = []
  let record = -1
  let line = 1
  let startLine = 1
  let blank = true
  let quoted = false
  let fieldStart = true
  let offset = -1
  let startOffset = 0
  let passed = 0
  for await (const chunk of chunksOf(path)) {
    for (const byte of chunk) {
      offset += 1
      if (byte === QUOTE && (quoted || fieldStart)) {
        // A doubled quote inside a quoted field closes the field and opens it again.
        quoted = !quoted
        fieldStart = !quoted
      } else {
        fieldStart = byte === delimiterByte || byte === NEWLINE
      }
      if (byte !== NEWLINE && byte !== RETURN) blank = false
      if (byte !== NEWLINE) continue
      line += 1
      if (quoted) continue
      while (skipped[passed]! < startOffset) passed += 1
      const isSkipped = skipped[passed]! <= offset
      if ((!blank || blankCounts) && !isSkipped) {
        if (record === records[lines.length]) lines.push(startLine)
        if (lines.length === records.length) return lines
        record += 1
      }
      startLine = line
      startOffset = offset + 1
      blank = true
    }
  }
  while (lines.length < records.length) lines.push(startLine)
  return lines
}

/**
 * Returns the number (from 1) of a line with at least this many bytes; undefined if there is none.
 * `sizeBytes` must be far more than one read, because a line inside one read is not measured.
 */
export async function longLine(path: string, sizeBytes: number): Promise<number | undefined> {
  let offset = 0
  let lineStart = 0
  for await (const chunk of createReadStream(path, { highWaterMark: 2 ** 20 }) as AsyncIterable<Buffer>) {
    const first = chunk.indexOf(NEWLINE)
    const end = offset + (first < 0 ? chunk.length : first)
    if (end - lineStart >= sizeBytes) return (await linesAt(path, [lineStart]))[0]
    if (first >= 0) lineStart = offset + chunk.lastIndexOf(NEWLINE) + 1
    offset += chunk.length
  }
  return undefined
}

function chunksOf(path: string): AsyncIterable<Uint8Array> {
  return createReadStream(path) as AsyncIterable<Buffer>
}
