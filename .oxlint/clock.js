// The one boundary that no built-in rule knows: `new Date()` reads the clock behind the caller's back.
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

export default { meta: { name: 'clock' }, rules: { 'no-ambient-date': noAmbientDate } }
