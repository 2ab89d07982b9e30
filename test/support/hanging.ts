// Says why a process still runs, as far as the kernel knows.
import { readFileSync, readdirSync } from 'node:fs'

/** Returns a line for each thread: its name, its state, and the call of the kernel that it waits in. */
export function threadsOf(pid: number): string {
  const tasks = `/proc/${pid}/task`
  const read = (path: string) => {
    try {
      return readFileSync(path, 'utf8').trim()
    } catch {
      return '?'
    }
  }
  try {
    return readdirSync(tasks)
      .map((id) => {
        const state = /^State:\s*(.*)$/m.exec(read(`${tasks}/${id}/status`))?.[1] ?? '?'
        return `  ${read(`${tasks}/${id}/comm`)}: ${state}, in ${read(`${tasks}/${id}/wchan`)}`
      })
      .join('\n')
  } catch {
    return '  not known: there is no /proc'
  }
}
