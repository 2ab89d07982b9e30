// Reads settings from a file into the environment of this process.

/**
 * Adds the variables of a file in the form of Node's `--env-file`. Values that are already in the environment
 * win. Processes that this one starts inherit the result, and must not read a file again.
 *
 * @param given what `--env-file` names; by default what FVS_ENV_FILE names, if anything.
 * @returns the fault, with the name of the file, if it cannot be read.
 */
export function readEnvFile(given: string | undefined): string | undefined {
  const { FVS_ENV_FILE: byVariable = '' } = process.env
  const file = given ?? byVariable
  const name = given === undefined ? 'FVS_ENV_FILE' : '--env-file'
  if (given === undefined && file === '') return undefined
  try {
    process.loadEnvFile(file)
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unreadable'
    return `${name} is ${JSON.stringify(file)}, which cannot be read (${code})`
  }
  delete process.env['FVS_ENV_FILE']
  return undefined
}
