// A logger that keeps its lines, for tests of what an operator is told.
import { type Level, type Logger, pino } from 'pino'

/** A logger of everything from a level on, and its lines. */
export function errorLog(level: Level = 'error'): { logger: Logger; lines: string[] } {
  const lines: string[] = []
  return { logger: pino({ level }, { write: (line: string) => void lines.push(line) }), lines }
}
