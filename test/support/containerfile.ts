// Reads deploy/Containerfile, and takes its steps without a container engine.
import { cp, mkdir } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect } from 'vitest'
import { REPOSITORY, textOf } from './fenced-blocks.ts'
import { RootFolder, type RootOptions, copyTree } from './root-folder.ts'

type Step = readonly [instruction: string, rest: string]

/** The image: its root, and what its last stage says of the process that runs in it. */
export interface Image {
  root: RootFolder
  env: Record<string, string>
  user: number
  /** The words of the entry point and of its default command. */
  words: string[]
  healthCheck: string[]
}

function stagesOf(document: string): Step[][] {
  const stages: Step[][] = []
  for (const line of textOf(document).split('\n')) {
    if (line === '' || line.startsWith('#')) continue
    const [, instruction, rest] = /^([A-Z]+) (.*)$/.exec(line)!
    if (instruction === 'FROM') stages.push([])
    else stages.at(-1)!.push([instruction!, rest!])
  }
  return stages
}

/** Takes the steps in `folder`. `options` are of the commands that RUN runs. */
export async function buildImage(folder: string, options: RootOptions): Promise<Image> {
  const [first, second] = stagesOf('deploy/Containerfile') as [Step[], Step[]]
  const build = await RootFolder.make(join(folder, 'build'))
  let directory = '/'
  for (const [instruction, rest] of first) {
    if (instruction === 'WORKDIR') {
      directory = rest
      await mkdir(join(build.path, directory), { recursive: true })
    } else if (instruction === 'COPY') {
      const words = rest.split(' ')
      const to = join(build.path, directory, words.pop()!)
      for (const from of words) {
        await cp(join(REPOSITORY, from), rest.endsWith('/') ? join(to, basename(from)) : to, {
          recursive: true,
        })
      }
    } else {
      expect(instruction).toBe('RUN')
      const { code, stdout, stderr } = await build.run(['sh', '-c', rest], { ...options, directory })
      expect(code, `${rest}: ${stdout}${stderr}`).toBe(0)
    }
  }
  return lastStage(second, build, await RootFolder.make(join(folder, 'image')))
}

async function lastStage(steps: readonly Step[], build: RootFolder, root: RootFolder): Promise<Image> {
  const image: Image = { root, env: {}, user: 0, words: [], healthCheck: [] }
  for (const [instruction, rest] of steps) {
    if (instruction === 'COPY') {
      const [, owner, from, to] = /^--from=build(?: --chown=(\d+:\d+))? (\S+) (\S+)$/.exec(rest)!
      await mkdir(dirname(join(root.path, to!)), { recursive: true })
      await copyTree(join(build.path, from!), join(root.path, to!))
      if (owner) await promisify(execFile)('chown', ['--recursive', owner, join(root.path, to!)])
    } else if (instruction === 'ENV') {
      for (const pair of rest.split(' ')) Object.assign(image.env, Object.fromEntries([pair.split(/=(.*)/s)]))
    } else if (instruction === 'USER') image.user = Number(/^(\d+):\1$/.exec(rest)![1])
    else if (instruction === 'ENTRYPOINT' || instruction === 'CMD')
      image.words.push(...(JSON.parse(rest) as string[]))
    else if (instruction === 'HEALTHCHECK')
      image.healthCheck = JSON.parse(/ CMD (.*)$/.exec(rest)![1]!) as string[]
    else expect(instruction).toBe('EXPOSE')
  }
  return image
}
