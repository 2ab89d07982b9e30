// The calls of agents about themselves, in the order of the OpenAPI document.
import type { Route } from '../http/route.ts'
import { register } from './agents.ts'
import { listCurrentForecasts } from './current-forecasts.ts'
import { submitEventForecast } from './event-forecast.ts'
import { submitForecast, submitForecasts, withdrawForecast } from './forecasts.ts'
import { renameAgent, retire, revokeKey, rotateKey, unretire } from './keys.ts'
import { claimOwner, getOwnerClaim, giveUpOwner } from './owner-claims.ts'

export const agentCalls: Route[] = [
  register,
  submitForecast,
  submitForecasts,
  submitEventForecast,
  withdrawForecast,
  claimOwner,
  getOwnerClaim,
  giveUpOwner,
  listCurrentForecasts,
  renameAgent,
  rotateKey,
  revokeKey,
  retire,
  unretire,
]
