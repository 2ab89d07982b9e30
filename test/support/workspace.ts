// A folder of links to the repository, in which commands of the documents run: it shows whether they leave
// files in it.
import { mkdir, readdir, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { REPOSITORY } from './fenced-blocks.ts'

/**
 * Without these, `npx fvs` in a folder that it does not know builds the program anew, while other tests run
 * it.
 */
export const NO_SCRIPTS = { npm_config_ignore_scripts: 'true' }

export async function makeWorkspace(folder: string): Promise<string> {
  const workspace = join(folder, 'repository')
  await mkdir(workspace)
  for (const name of await readdir(REPOSITORY)) {
    if (!name.startsWith('.') && name !== 'data') await symlink(join(REPOSITORY, name), join(workspace, name))
  }
  return workspace
}
