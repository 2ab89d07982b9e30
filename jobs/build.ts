// Builds the programs of the service from their sources and packages into few files, because finding, reading
// and linking seven hundred modules takes most of a start. Use: `node jobs/build.ts [FOLDER]`, with a folder
// of the repository, by default `dist`. The same sources make the same bytes. Nothing is minified, so that
// stacks have the names of functions. `npm ci` makes the build by `prepare`, also with `--omit=dev`, so
// rolldown is a dependency of production.
import { chmod, rm, writeFile } from 'node:fs/promises'
import { dirname, join, relative, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type Plugin, rolldown } from 'rolldown'
import { bundledForPages, bundledForReaders } from '../api/pages/bundle.ts'

const ROOT = dirname(import.meta.dirname)
const folder = join(ROOT, process.argv[2] ?? 'dist')

/** Entry points: output name → source file. */
const PROGRAMS = {
  fvs: 'jobs/fvs.js',
  creator: 'pipeline/store/creator.ts',
  'score-decoder': 'pipeline/release/score-decoder.ts',
  drawer: 'api/pages/cards/drawer.ts',
}
/** The script of pages and the verifier that readers take, which no program imports. */
const SCRIPTS = {
  verify: { source: 'api/pages/assets/verify.js', bundled: bundledForPages },
  verifier: { source: 'examples/verify.ts', bundled: bundledForReaders },
}
const built = new Map([
  ...Object.entries(PROGRAMS).map(([name, source]) => [join(ROOT, source), name] as const),
  ...Object.entries(SCRIPTS).map(([name, { source }]) => [join(ROOT, source), name] as const),
])

/**
 * Packages that stay outside of the build: native ones, and large ones.
 */
const PACKAGES_APART = [/^@duckdb\//, /^@aws-sdk\//, /^@smithy\//, /^@redis\//, /^@resvg\//, /^rolldown$/]

const FILE = /new URL\('([^']+)', import\.meta\.url\)/g

/**
 * Resolves the addresses of files relative to a source: to the sources for data, to the built files for
 * programs.
 */
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
 * Loads `http` without an import statement. An import would make Node load the HTTP client of its `fetch`
 * too, which takes as long as the rest of the start.
 */
const serverAlone: Plugin = {
  name: 'server alone',
  resolveId: { filter: { id: /^(node:)?http$/ }, handler: () => '\0http.cjs' },
  load: {
    filter: { id: /^\0http\.cjs$/ },
    handler: () => `module.exports = process.getBuiltinModule('node:http')`,
  },
}

/** Puts the modules that every command loads into one file, and the others into separate files. */
const always = new Set<string>()
const layers: Plugin = {
  name: 'layers',
  buildEnd() {
    const add = (id: string) => {
      const imported = always.has(id) ? [] : (this.getModuleInfo(id)?.importedIds ?? [])
      always.add(id)
      for (const next of imported) add(next)
    }
    add(join(ROOT, 'jobs/commands.ts'))
  },
}

/** One package uses `eval` on purpose. */
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
await build('fvs')
// Build each of these alone: a first call waits for the start of the thread that loads it.
for (const program of ['creator', 'score-decoder', 'drawer'] as const) {
  always.clear()
  await build(program)
}
for (const [name, { source, bundled }] of Object.entries(SCRIPTS)) {
  await writeFile(join(folder, `${name}.js`), await bundled(pathToFileURL(join(ROOT, source))))
}
await chmod(join(folder, 'fvs.js'), 0o755)
