// The boundaries of this project that no built-in rule knows.
import { dirname, relative, resolve, sep } from 'node:path'

/** Every source file is in a room. */
const HOUSE = /^(schemas|pipeline|api|jobs)\//

const ROOT = resolve(import.meta.dirname, '..')

/** `new Date()` reads the clock behind the caller's back. */
const noAmbientDate = {
  meta: { docs: { description: 'time comes from the clock that is passed in' } },
  create(context) {
    return {
      NewExpression(node) {
        const { callee } = node
        if (callee.type === 'Identifier' && callee.name === 'Date' && node.arguments.length === 0) {
          context.report({ node, message: '`new Date()` reads the clock: pass the clock in.' })
        }
      },
    }
  },
}

/**
 * Imports follow the arrows between rooms. Options: `arrows`, for each room the rooms that it may import beside itself;
 * `packages`, for each room that may import few packages which; `owners`, for a package the only place that may import it.
 */
const arrows = {
  meta: { docs: { description: 'imports follow the arrows between rooms' }, schema: false },
  create(context) {
    const [{ arrows: allowed, packages, owners }] = context.options
    const rooms = Object.keys(allowed).toSorted((a, b) => b.length - a.length)
    const isIn = (path, room) =>
      room.endsWith('/*') ? dirname(path) === room.slice(0, -2) : path === room || path.startsWith(`${room}/`)
    const roomOf = (path) => rooms.find((room) => isIn(path, room))
    const file = relative(ROOT, context.filename).split(sep).join('/')
    const room = roomOf(file)
    if (room === undefined) {
      const message = `${file} is in no room: see the rooms in oxlint.config.ts`
      return HOUSE.test(file) ? { Program: (node) => context.report({ node, message }) } : {}
    }
    const check = ({ source }) => {
      if (!source || source.type !== 'Literal') return
      const refusal = source.value.startsWith('.') ? ofFile(source.value) : ofPackage(source.value)
      if (refusal) context.report({ node: source, message: refusal })
    }
    const ofFile = (specifier) => {
      const target = roomOf(
        relative(ROOT, resolve(dirname(context.filename), specifier))
          .split(sep)
          .join('/'),
      )
      if (target === room || allowed[room].includes(target)) return undefined
      return `${room} may not import ${target ?? specifier}: see the arrows in oxlint.config.ts`
    }
    const ofPackage = (name) => {
      const few = packages[file] ?? packages[room]
      if (few && !few.includes(name)) return `${room} may import no package but: ${few.join(', ') || 'none'}`
      const owner = Object.keys(owners).find((prefix) => name === prefix || name.startsWith(`${prefix}/`))
      if (owner === undefined || file === owners[owner] || file.startsWith(`${owners[owner]}/`))
        return undefined
      return `only ${owners[owner]} knows ${owner}`
    }
    return {
      ImportDeclaration: check,
      ExportNamedDeclaration: check,
      ExportAllDeclaration: check,
      ImportExpression: check,
    }
  },
}

export default { meta: { name: 'house' }, rules: { 'no-ambient-date': noAmbientDate, arrows } }
