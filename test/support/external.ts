// What a test needs from outside this machine's packages, named by the environment. Where it is missing the
// tests say so and are skipped; in CI they fail instead.

/** The values of the variables, or undefined, aloud, where one is missing. */
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
