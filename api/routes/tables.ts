// All tables as CSV.
import type { Route } from '../http/route.ts'
import { answerTables } from './answer-tables.ts'
import { boardTables } from './board-tables.ts'
import { questionTables } from './question-tables.ts'

export const tables: Route[] = [...boardTables, ...questionTables, ...answerTables]
