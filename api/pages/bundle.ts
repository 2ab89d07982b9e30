// Bundles a script of pages with the modules that it imports. The same sources make the same bytes.
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'
import { encoded } from '../../pipeline/proof/canonical.ts'

export async function bundledForPages(source: URL): Promise<Uint8Array> {
  await using bundle = await rolldown({ input: fileURLToPath(source), platform: 'browser' })
  const { output } = await bundle.generate({ format: 'iife', minify: true })
  return encoded(output[0].code)
}
