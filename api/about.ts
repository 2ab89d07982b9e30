// The operator's words about the service, for pages and for the OpenAPI document.
/** From the settings. */
export interface About {
  serviceName: string
  operatorName?: string | undefined
  contactUrl?: string | undefined
  imprintUrl?: string | undefined
  privacyUrl?: string | undefined
  /** The licence of what is published. */
  dataLicenceUrl?: string | undefined
}

export const DEFAULT_NAME = 'Forecast verification'
