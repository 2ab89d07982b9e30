// What a key may ask for.

export const TIERS = ['free', 'pro', 'enterprise'] as const
export type Tier = (typeof TIERS)[number]

/** The ids that one bulk request may name. Who sends no key gets what is free. */
export const BULK_IDS: Record<Tier, number> = { free: 10, pro: 50, enterprise: 200 }
