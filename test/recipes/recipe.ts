// A recipe of CONTRIBUTING.md as a change of the sources: what somebody who follows its steps would write.
import { existsSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'

export interface Recipe {
  /** The texts that stand for the names in angle brackets of the page. */
  names?: Readonly<Record<string, string>>
  /** The whole text of a new file, or the edits of one that there is. */
  files: Readonly<Record<string, string | readonly Edit[]>>
}

/** A text in the place of one that occurs once. */
export interface Edit {
  found: string
  by: string
}

export const replace = (found: string, by: string): Edit => ({ found, by })
export const after = (found: string, added: string): Edit => ({ found, by: `${found}${added}` })
export const before = (found: string, added: string): Edit => ({ found, by: `${added}${found}` })

/** @throws Error for an edit that no longer fits, naming the file and the text. */
export async function write(folder: string, path: string, wanted: string | readonly Edit[]): Promise<void> {
  const file = join(folder, path)
  let text = typeof wanted === 'string' ? wanted : await readFile(file, 'utf8')
  if (typeof wanted === 'string') {
    if (existsSync(file)) throw new Error(`${path} exists, and the recipe makes it`)
    await mkdir(dirname(file), { recursive: true })
  } else {
    for (const { found, by } of wanted) {
      const times = text.split(found).length - 1
      if (times !== 1) throw new Error(`${path} has ${times} times, not once: ${found}`)
      text = text.replace(found, () => by)
    }
  }
  await writeFile(file, text)
}
