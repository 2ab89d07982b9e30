// Lines that go into a stage, and the text that comes out of it.
import type { Input } from '../../pipeline/release/stage/lines.ts'

/** The input of a stage, in pieces that end anywhere. */
export async function* inputOf(text: string, pieceBytes = 1000): Input {
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length; at += pieceBytes) yield bytes.subarray(at, at + pieceBytes)
}

export async function textOf(lines: AsyncIterable<string>): Promise<string> {
  return (await Array.fromAsync(lines)).join('')
}
