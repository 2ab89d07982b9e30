// The tiers and kinds of API keys, their limits, and the scopes of operators' keys.

export const TIERS = ['free', 'pro', 'enterprise'] as const
export type Tier = (typeof TIERS)[number]

/** The most ids that one bulk request may name. Callers without a key have the free tier. */
export const BULK_IDS: Record<Tier, number> = { free: 10, pro: 50, enterprise: 200 }

/** The kinds of rows that an operator's key may write: each key has one scope or several. */
export const OPERATOR_SCOPES = ['questions', 'resolutions', 'people', 'agents'] as const
export type OperatorScope = (typeof OPERATOR_SCOPES)[number]

/** The kinds of keys that `fvs keys create` makes. An agent gets its key at registration. */
export const KEY_KINDS = ['client', 'operator'] as const
