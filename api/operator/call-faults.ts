// The faults of a call's rows, in the words of a file's: a row is named by its JSON Pointer, and hints at
// options of the command are left out, because a call has none.
import type { Fault } from '../../schemas/errors.ts'

/** `list` is the field of the body that has the rows, which are read as lines. */
export function faultsOfCall(list: string, faults: readonly Fault[]): Fault[] {
  const named = (text: string) =>
    text.replace(/\bline (\d+)\b/g, (_text, line: string) => `/${list}/${Number(line) - 1}`)
  return faults.map(({ pointer, detail }) => ({
    pointer: named(pointer),
    detail: named(
      detail
        .replace('say why by --correct', 'send a reason')
        .replace(/^entity_id\b/, 'user_id')
        .replace(/; [^;]*--.*$/, ''),
    ),
  }))
}
