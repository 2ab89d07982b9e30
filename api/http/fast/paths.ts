// Finds the route of a request by a path in its usual form: without an id, or with one in lower case. Koa
// finds the other spellings.
import { ENVIRONMENTS, type Environment } from '../../../schemas/values.ts'
import { routerPath } from '../app.ts'
import type { NodeContext } from '../context.ts'
import { MOUNTS } from '../../mounts.ts'
import type { Route } from '../route.ts'
import type { AnswerFirst } from '../server.ts'

/** An `AnswerFirst` that returns the work that is left. */
export type Answering = (...asked: Parameters<AnswerFirst>) => Promise<void> | undefined

/** A route in one environment. */
export interface RouteInEnvironment<Spec extends Route> {
  spec: Spec
  context: NodeContext
  /** The route's name in the metrics. */
  route: string
}

/** The call at a path. `named` is the id or the name in the path, or empty. */
export interface CallAtPath<Call> {
  call: Call
  named: string
}

const PATH =
  /^((?:\/[a-z]+){1,2}\/)([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})((?:\/[a-z-]+(?:\.[a-z]+)?)?)$/

const PARAMETER = /\{(\w+)\}/

/** Returns the name of the parameter in the path of a route. */
export function parameterOf({ path }: Route): string | undefined {
  return PARAMETER.exec(path)?.[1]
}

/**
 * Returns a function that finds the call at a path. A parameter is an id, unless its route has a list of
 * names.
 */
export function byPath<Spec extends Route, Call>(
  specs: readonly Spec[],
  contexts: Partial<Record<Environment, NodeContext>>,
  callOf: (placed: RouteInEnvironment<Spec>) => Call,
): (path: string) => CallAtPath<Call> | undefined {
  const withId = new Map<string, Call>()
  const others = new Map<string, CallAtPath<Call>>()
  for (const environment of ENVIRONMENTS) {
    const context = contexts[environment]
    const mount = MOUNTS[environment]
    if (!context) continue
    for (const spec of specs) {
      const call = callOf({ spec, context, route: mount + routerPath(spec.path) })
      const at = (named: string) => mount + spec.path.replace(PARAMETER, named)
      const names = spec.prepared?.names ?? (PARAMETER.test(spec.path) ? undefined : [''])
      if (!names) withId.set(at(''), call)
      for (const named of names ?? []) others.set(at(named), { call, named })
    }
  }
  return (path) => {
    const [, before, id, after] = PATH.exec(path) ?? []
    if (id === undefined) return others.get(path)
    const call = withId.get(before! + after!)
    return call && { call, named: id }
  }
}
