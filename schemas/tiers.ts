// The tiers of API keys, and what each may ask for.

export const TIERS = ['free', 'pro', 'enterprise'] as const
export type Tier = (typeof TIERS)[number]

/** The most ids that one bulk request may name. Callers without a key have the free tier. */
export const BULK_IDS: Record<Tier, number> = { free: 10, pro: 50, enterprise: 200 }
