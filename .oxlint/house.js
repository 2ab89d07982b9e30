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
 * Imports follow the arrows between rooms. Options: `arrows`, for each room the rooms that it may import
 * beside itself; `packages`, for each room that may import few packages which; `owners`, for a package the
 * only place that may import it.
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

/** Openers of a sentence that has to be read twice, because its subject or its verb is missing. */
const HEADLESS =
  /(?:^|[.:;!?] )(What|One that|Those that|Has|Have|Of another|Beside|In place of|Meanwhile|Comes to)\b/

const WIDTH = 110

/** A comment is made of sentences with a subject and a verb, and is as wide as the code. */
const comments = {
  meta: { docs: { description: 'comments are sentences, wrapped like the code' } },
  create(context) {
    const { sourceCode } = context
    const { lines } = sourceCode
    const isLine = ({ type }) => type === 'Line'
    /** Line comments one below the other are one text. */
    const follows = (comment, last) =>
      last && isLine(comment) && isLine(last) && comment.loc.start.line === last.loc.end.line + 1
    const check = (group) => {
      const [first] = group
      const { loc } = first
      const text = group
        .map(({ value }) => value.replaceAll(/^[ \t]*\*+/gm, ''))
        .join(' ')
        .replaceAll(/@(param|returns|throws)[ \w`]*/g, '. ')
        .replaceAll(/\s+/g, ' ')
        .trim()
      const [, opener] = HEADLESS.exec(text) ?? []
      if (opener) {
        context.report({
          loc,
          message: `a sentence of the comment begins with "${opener}": give it a subject and a verb`,
        })
      }
      const last = group.at(-1).loc.end.line
      for (let line = loc.start.line; line <= last; line++) {
        const { length } = lines[line - 1]
        if (length > WIDTH && !lines[line - 1].includes('://'))
          context.report({
            loc,
            message: `line ${line} of a comment has ${length} characters; wrap it at ${WIDTH}`,
          })
      }
    }
    return {
      Program() {
        const groups = []
        for (const comment of sourceCode.getAllComments()) {
          if (follows(comment, groups.at(-1)?.at(-1))) groups.at(-1).push(comment)
          else groups.push([comment])
        }
        groups.forEach(check)
      },
    }
  },
}

export default { meta: { name: 'house' }, rules: { 'no-ambient-date': noAmbientDate, arrows, comments } }
