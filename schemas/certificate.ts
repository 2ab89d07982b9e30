// The file of a certificate: a verification with all that its reader needs to check it, but for a key of the
// log that the reader can trust.
import { z } from 'zod'
import { openBadgeCredential } from './credentials.ts'
import { agentVerification, forecasterVerification } from './payloads.ts'
import type { EntityType } from './tables.ts'

export const CERTIFICATE_FORMAT = 'forecast-verification/certificate@1'

const OF_EVERYONE = [
  'that it still holds: a later release can say something else, and take the title away',
  'that forecasts which the operator sent or imported were made when they say: witnessed_share is the share that the service saw',
  'that the outcomes are true, or the questions fair',
  'that the service took in every forecast that somebody wanted to make',
  'when the log signed, or that others are shown the same log: for that, witnesses whose keys you know must have signed too',
  'that vkeys are the keys of the log: compare them with a key that you have from elsewhere',
]
/**
 * The limits of a certificate by whom it is about: each continues "it does not show". Verifiers print their
 * own, because the log does not vouch for the copy in a file.
 */
export const DOES_NOT_SHOW: Record<EntityType, readonly string[]> = {
  agent: [
    'that those who hand it over run the agent that it is about: anyone can get this file',
    'that the agent is run by the owner that it names: name and model_type are claims, and owner_id is as the service recorded it',
    'that the owner has no other agent: owner_agents counts those that are recorded',
    ...OF_EVERYONE,
  ],
  forecaster: [
    'who the person is, or that those who hand it over are that person: anyone can get this file',
    'that the person has no other record',
    ...OF_EVERYONE,
  ],
}

const certificateOf = <T extends z.ZodType>(payload: T) =>
  z.strictObject({
    format: z.literal(CERTIFICATE_FORMAT),
    payload: payload.describe(
      'The verification; its canonical JSON (RFC 8785) is the leaf that the proof begins at',
    ),
    proof: z
      .string()
      .describe(
        'As the proof of the verification is answered, with the signed and cosigned checkpoint at its end',
      ),
    vkeys: z
      .array(z.string())
      .describe(
        'The public keys of the log that have signed the checkpoint, to compare: whoever makes up a file puts an own key here',
      ),
    credential: openBadgeCredential
      .optional()
      .describe('An Open Badges credential, where the service issues them'),
    does_not_show: z.array(z.string()).describe('Each continues “it does not show”'),
  })
export const agentCertificate = certificateOf(agentVerification)
export const forecasterCertificate = certificateOf(forecasterVerification)

/** A certificate as it is read: its verification may be of any version of the method. */
export const anyCertificate = certificateOf(z.looseObject({ voice_rule: z.string() }))
