// The calls about the service itself, in the order of the OpenAPI document.
import type { Route } from '../http/route.ts'
import { llms } from './llms.ts'
import { problemType, problemTypes } from './problems.ts'
import { jsonSchema } from './schemas.ts'
import { livez, metrics, readyz } from './service.ts'

export const aboutService: Route[] = [problemTypes, problemType, jsonSchema, llms, livez, readyz, metrics]
