// Servers and programs that some tests need, as environment variables name them. Without them those tests are
// skipped with a message; in CI they fail instead.

/** The values of the variables. If one is missing, prints a message and returns undefined. */
export function external<Name extends string>(
  names: readonly Name[],
  howToGetIt: string,
): Record<Name, string> | undefined {
  const missing = names.filter((name) => !process.env[name])
  if (missing.length === 0) {
    return Object.fromEntries(names.map((name) => [name, process.env[name]])) as Record<Name, string>
  }
  const message = `${missing.join(', ')} not set: ${howToGetIt}`
  if (process.env['CI'] === 'true') throw new Error(message)
  console.warn(`skipped: ${message}`)
  return undefined
}
