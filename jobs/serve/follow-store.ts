// Keeps what a node serves up to date with its store: the questions, the current release and the list of snapshots.
import type { CurrentRelease } from '../../api/current-release.ts'
import type { History } from '../../api/history.ts'
import type { QuestionBook } from '../../api/questions/book.ts'

interface Followed {
  questions: QuestionBook
  releases: CurrentRelease
  history: History
}

/** Returns the step that brings all of it up to date. Snapshots are listed only where there may be a new one. */
export function followStore({ questions, releases, history }: Followed): () => Promise<void> {
  let listedFor: number | undefined
  return async () => {
    await questions.refresh()
    await releases.refresh()
    const { current } = releases
    const release = current?.release ?? 0
    // A release may be of any day, and its snapshot is written after it.
    const isWritten = current === undefined || history.has(current.as_of.slice(0, 10))
    if (release === listedFor && isWritten) return
    await history.refresh()
    listedFor = release
  }
}
