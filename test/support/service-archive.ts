// The service as one archive, which workers of Spark get, by the commands of docs/spark.md.
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { RunningCommand } from './command.ts'
import { REPOSITORY, blocksOf } from './fenced-blocks.ts'

/** Runs the commands in a copy of the checkout in `folder`, and returns the path of the archive. */
export async function serviceArchive(folder: string): Promise<string> {
  const copy = join(folder, 'checkout')
  await mkdir(copy)
  const { code: pack } = blocksOf('docs/spark.md').find(({ code }) => code.includes('tar czf'))!
  const script = `git -C '${REPOSITORY}' ls-files -z -- . ':!test' ':!bench' |
    tar --create --directory '${REPOSITORY}' --null --files-from - | tar --extract --directory '${copy}'
    cd '${copy}' && ${pack}`
  // What `npm run` tells its scripts is not for another npm.
  const told = Object.keys(process.env).filter((name) => name.startsWith('npm_'))
  const env = {
    ...Object.fromEntries(told.map((name) => [name, undefined])),
    npm_config_prefer_offline: 'true',
  }
  const { code, stdout, stderr } = await new RunningCommand('bash', ['-euo', 'pipefail', '-c', script], {
    env,
  }).ended
  if (code !== 0) throw new Error(`the archive could not be made: ${stdout}${stderr}`)
  return join(folder, 'fvs.tar.gz')
}
