// A thread that draws SVG as PNG. It takes tens of milliseconds, and no other answer must wait for that.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { parentPort } from 'node:worker_threads'
import { Resvg, initWasm } from '@resvg/resvg-wasm'
import { fontFile } from './font.ts'

await initWasm(readFileSync(createRequire(import.meta.url).resolve('@resvg/resvg-wasm/index_bg.wasm')))
const font = { fontBuffers: [fontFile('regular'), fontFile('bold')], defaultFontFamily: 'DejaVu Sans' }

parentPort!.on('message', (svg: string) => {
  const picture = new Resvg(svg, { font })
  const drawn = picture.render()
  const png = drawn.asPng()
  drawn.free()
  picture.free()
  parentPort!.postMessage(png)
})
