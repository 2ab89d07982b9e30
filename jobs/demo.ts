// `fvs demo`.
export async function runDemo(_env: unknown, _options: object, _stop: () => Promise<void>): Promise<void> {}
