// Finds the calls at a path without comparing it with the pattern of every call.
import Router from '@koa/router'
import type Koa from 'koa'
import { ENVIRONMENTS, type Environment } from '../../schemas/values.ts'
import { MOUNTS, environmentOf } from '../mounts.ts'
import type { ApiContext } from './context.ts'
import { type Route, isReadableAnywhere } from './route.ts'

/** The context of each environment that is served. */
export type Contexts = Partial<Record<Environment, ApiContext>>

/** A call that a request makes. */
export interface Call {
  spec: Route
  context: ApiContext
  /** The path with its parameters as the router writes them. */
  template: string
  /** The parameters of the path, not validated. */
  params: Record<string, string>
}

/** The calls at some paths. */
export class Calls {
  /** Whether any web page may read the answers to a GET. */
  isReadable = true
  readonly #router = new Router({ strict: true, sensitive: true })
  readonly #calls = new Map<string, Omit<Call, 'params'>>()

  add(path: string, spec: Route, context: ApiContext): void {
    const template = routerPath(path)
    const name = `${spec.method} ${template}`
    this.#router.register(template, [spec.method], () => undefined, { name })
    this.#calls.set(name, { spec, context, template })
    this.isReadable &&= isReadableAnywhere(spec)
  }

  /** Returns the call at a path by a method; undefined if there is none. */
  callOf({ path, method }: Koa.Context): Call | undefined {
    const [layer] = this.#router.match(path, method).pathAndMethod
    if (!layer) return undefined
    return { ...this.#calls.get(layer.name!)!, params: layer.params(path, layer.captures(path)) }
  }

  /** Returns the methods that a path takes; none if it does not exist. */
  methodsAt(path: string): string[] {
    return [...new Set(this.#router.match(path, 'GET').path.flatMap(({ methods }) => methods))]
  }
}

/**
 * Returns a function that finds calls: by the whole path if it has no parameter, otherwise by its beginning.
 * So a path without a parameter matches only itself: `/agents/register` names no agent, and GET is a wrong
 * method there.
 */
export function callsByPath(
  contexts: Contexts,
  routes: readonly Route[],
): (path: string) => Calls | undefined {
  const calls = new Map<string, Calls>()
  for (const environment of ENVIRONMENTS) {
    const context = contexts[environment]
    if (!context) continue
    for (const spec of routes) {
      const path = MOUNTS[environment] + spec.path
      const key = path.includes('{') ? beginningOf(path) : path
      const own = calls.get(key) ?? new Calls()
      own.add(path, spec, context)
      calls.set(key, own)
    }
  }
  return (path) => calls.get(path) ?? calls.get(beginningOf(path))
}

/** Returns the mount and the first part of the path behind it, such as `/sandbox/agents/`. */
function beginningOf(path: string): string {
  const mount = MOUNTS[environmentOf(path)]
  return path.slice(0, path.indexOf('/', mount.length + 1) + 1)
}

/** Converts a path for the router: `{name}` is one part of it, `{+name}` is all that follows. */
function routerPath(path: string): string {
  return path.replace(
    /\{(\+?)(\w+)\}/g,
    (_whole, several: string, name: string) => (several ? '*' : ':') + name,
  )
}
