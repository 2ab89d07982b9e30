// A thread that simulates the worlds it is sent, one after another.
import { parentPort } from 'node:worker_threads'
import { simulate } from './studies.ts'
import type { Values } from './study.ts'

export interface Task {
  name: string
  world: number
}

export interface Done extends Task {
  values: Values
}

parentPort!.on('message', ({ name, world }: Task) => {
  parentPort!.postMessage({ name, world, values: simulate(name, world) } satisfies Done)
})
