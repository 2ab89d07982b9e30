// Makes the programs of the service out of their sources and packages, in few files, because to find, read
// and link seven hundred modules is most of what a start takes. `node jobs/build.ts [FOLDER]`: a folder of
// the repository, `dist` if none is named. The same sources make the same bytes.
import { chmod, rm } from 'node:fs/promises'
import { dirname, join, relative, resolve } from 'node:path'
import { type Plugin, rolldown } from 'rolldown'

const ROOT = dirname(import.meta.dirname)
const folder = join(ROOT, process.argv[2] ?? 'dist')

/** What is started by its file, by the names of what is built. */
const PROGRAMS = {
  fvs: 'jobs/fvs.js',
  worker: 'jobs/serve/workers/worker.ts',
  creator: 'pipeline/store/creator.ts',
  'score-decoder': 'pipeline/release/score-decoder.ts',
}
const built = new Map(Object.entries(PROGRAMS).map(([name, source]) => [join(ROOT, source), name]))

/**
 * Packages that are loaded where they are needed: native ones, large ones, and those of which files are
 * served.
 */
const PACKAGES_APART = [/^@duckdb\//, /^@aws-sdk\//, /^@smithy\//, /^@redis\//, /^swagger-ui-dist/]

const FILE = /new URL\('([^']+)', import\.meta\.url\)/g

/** Whatever a source finds beside itself is found there, but a program is the one that is built. */
const files: Plugin = {
  name: 'files',
  transform: {
    filter: { id: { exclude: [/node_modules/, /^\0/] }, code: /import\.meta\.url/ },
    handler(code, source) {
      const parts = code.split(FILE)
      const there = `new URL('${relative(folder, source)}', import.meta.url).href`
      const found = (path: string) => {
        const program = built.get(resolve(dirname(source), path))
        return program === undefined
          ? `new URL('${path}', ${there})`
          : `new URL('./${program}.js', import.meta.url)`
      }
      // Every second part is the path of a file.
      const moved = parts.map((part, index) =>
        index % 2 === 1 ? found(part) : part.replaceAll('import.meta.url', there),
      )
      return { code: moved.join(''), map: null }
    },
  },
}

/**
 * By an import statement Node loads its HTTP client with its server: as much time again as it takes to start.
 */
const serverAlone: Plugin = {
  name: 'server alone',
  resolveId: { filter: { id: /^(node:)?http$/ }, handler: () => '\0http.cjs' },
  load: {
    filter: { id: /^\0http\.cjs$/ },
    handler: () => `module.exports = process.getBuiltinModule('node:http')`,
  },
}

/** What every command loads is one file; what only some need is in files of its own. */
const always = new Set<string>()
const layers: Plugin = {
  name: 'layers',
  buildEnd() {
    const add = (id: string) => {
      const imported = always.has(id) ? [] : (this.getModuleInfo(id)?.importedIds ?? [])
      always.add(id)
      for (const next of imported) add(next)
    }
    // Without itself: it waits for commands, which import from the file.
    for (const id of this.getModuleInfo(join(ROOT, 'jobs/commands.ts'))?.importedIds ?? []) add(id)
  },
}

/** A package warns of what it does by intent. */
const EXPECTED_WARNINGS = { eval: false }

async function build(...names: (keyof typeof PROGRAMS)[]): Promise<void> {
  const bundle = await rolldown({
    cwd: ROOT,
    input: Object.fromEntries(names.map((name) => [name, join(ROOT, PROGRAMS[name])])),
    platform: 'node',
    external: PACKAGES_APART,
    plugins: [files, serverAlone, layers],
    checks: EXPECTED_WARNINGS,
  })
  await bundle.write({
    dir: folder,
    sourcemap: true,
    entryFileNames: '[name].js',
    chunkFileNames: '[name]-[hash].js',
    codeSplitting: { groups: [{ debugName: 'common', name: (id) => (always.has(id) ? 'common' : null) }] },
  })
  await bundle.close()
}

await rm(folder, { recursive: true, force: true })
await build('fvs', 'worker')
// Each alone, because a thread loads it whose start a first call waits for.
for (const program of ['creator', 'score-decoder'] as const) {
  always.clear()
  await build(program)
}
await chmod(join(folder, 'fvs.js'), 0o755)
