// What a file's tests share: a store, the released world in it, and services over it. Each is made when the
// first test of the file needs it, and what was started is stopped after the last, also after a failure.
import { test as plain } from 'vitest'
import type { Components } from '../../../jobs/components/components.ts'
import { MemoryStore } from '../../../pipeline/store/memory.ts'
import { makeFolder } from '../folder.ts'
import { NOW, copyReleasedWorld } from '../worlds/world.ts'
import { Clock, type TestOptions, type TestService, startTestService, testComponents } from './service.ts'

const FILE = { scope: 'file' } as const

export const test = plain
  .extend('settings', FILE, (): Record<string, string> => ({}))
  .extend('clock', FILE, () => new Clock(NOW))
  .extend('store', FILE, () => new MemoryStore())
  // eslint-disable-next-line no-empty-pattern -- a fixture must destructure, also what it needs nothing of
  .extend('folder', FILE, async ({}, { onCleanup }) => {
    const { path, remove } = await makeFolder()
    onCleanup(remove)
    return path
  })
  .extend('components', FILE, ({ settings, clock, store, folder }) =>
    testComponents({ settings, clock, store, folder }),
  )
  /** The released world, in the store. */
  .extend('world', FILE, ({ store }) => copyReleasedWorld(store))
  /** Starts services over components or options of the file's own, and stops them before the folder goes. */
  .extend('serve', FILE, ({ folder: _folder }, { onCleanup }) => {
    const started: TestService[] = []
    onCleanup(async () => {
      await Promise.all(started.map((service) => service.stop()))
    })
    return async (options: TestOptions | Components) => {
      const service = await startTestService(options)
      started.push(service)
      return service
    }
  })
  /** A service over the released world. */
  .extend('service', FILE, ({ components, world, serve }) => {
    void world
    return serve(components)
  })

/**
 * The same with settings of the file's own. `test.override` would change them for the files that follow in
 * this process.
 */
export const testWith = (settings: Record<string, string>) => test.extend('settings', FILE, () => settings)
