// The fenced blocks of the documents, so that a test can run the commands that readers are told to run.
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

export const REPOSITORY = fileURLToPath(new URL('../..', import.meta.url))

export interface Block {
  document: string
  /** The heading above it. */
  heading: string
  /** The line number of its opening fence, from 1. */
  line: number
  /** The language after the fence: `sh`, `sql`, `js`, `python`; empty for a block that is not run. */
  language: string
  code: string
}

export function textOf(document: string): string {
  return readFileSync(`${REPOSITORY}${document}`, 'utf8')
}

export function blocksOf(document: string): Block[] {
  const blocks: Block[] = []
  let heading = ''
  let open: Block | undefined
  for (const [index, text] of textOf(document).split('\n').entries()) {
    const fence = /^```(\w*)$/.exec(text)
    if (fence && open) {
      blocks.push(open)
      open = undefined
    } else if (fence) open = { document, heading, line: index + 1, language: fence[1]!, code: '' }
    else if (open) open.code += `${text}\n`
    else heading = /^#+ (.*)$/.exec(text)?.[1] ?? heading
  }
  if (open) throw new Error(`${document}: the block at line ${open.line} is not closed`)
  return blocks
}
