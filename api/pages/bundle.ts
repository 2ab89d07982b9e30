// Bundles scripts with the modules of the service that they import. The same sources make the same bytes.
import { fileURLToPath } from 'node:url'
import { type OutputOptions, rolldown } from 'rolldown'
import { encoded } from '../../pipeline/proof/canonical.ts'

/** Drops the modules of Node, which only functions need that neither pages nor readers call. */
const SIDE_EFFECTS = [{ test: /^node:/, sideEffects: false }]

/** Bundles a script of pages. */
export function bundledForPages(source: URL): Promise<Uint8Array> {
  return bundled(source, { format: 'iife', minify: true })
}

/** Bundles a program or a module as a file that readers can read before they run it in Node 20 or newer. */
export function bundledForReaders(source: URL): Promise<Uint8Array> {
  return bundled(source, { format: 'esm' })
}

async function bundled(source: URL, output: OutputOptions): Promise<Uint8Array> {
  await using bundle = await rolldown({
    // The names of modules in comments are relative to it.
    cwd: fileURLToPath(new URL('../..', import.meta.url)),
    input: fileURLToPath(source),
    platform: 'browser',
    external: /^node:/,
    treeshake: { moduleSideEffects: SIDE_EFFECTS },
    transform: { target: 'es2022' },
  })
  const { output: chunks } = await bundle.generate(output)
  return encoded(chunks[0].code)
}
