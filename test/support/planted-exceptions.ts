// Plants exceptions in callbacks of Node, in a process that loads this first: the first compression by brotli
// throws in a callback of the call that waits for it, and SIGUSR2 in a callback of no call.
import { syncBuiltinESMExports } from 'node:module'
import zlib from 'node:zlib'

const { brotliCompress } = zlib
let isPlanted = false
const planted = (...args: unknown[]): void => {
  if (isPlanted) {
    ;(brotliCompress as (...all: unknown[]) => void)(...args)
    return
  }
  isPlanted = true
  setImmediate(() => {
    throw new Error('planted in a call')
  })
}
zlib.brotliCompress = planted as typeof brotliCompress
syncBuiltinESMExports()
process.on('SIGUSR2', () => {
  throw new Error('planted in no call')
})
