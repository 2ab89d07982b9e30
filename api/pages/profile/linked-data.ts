// A profile in the words of schema.org, for search engines and other programs that read pages.
import { callPath } from '../../../schemas/entity-paths.ts'
import type { Certificate } from './certificate.ts'
import { type Site, addressOf } from '../site.ts'
import { type Payloads, idOf, isAgent, kindOf, plainName } from './subject.ts'

/** @param path that of the page. Addresses are whole, or left out where the service does not know its own. */
export function linkedData(
  site: Site,
  of: Payloads,
  path: string,
  certificate: Certificate | undefined,
): object {
  const at = (where: string) => site.publicUrl !== undefined && { url: addressOf(site, where) }
  return {
    '@context': 'https://schema.org',
    '@type': 'ProfilePage',
    ...at(path),
    dateModified: of.verification.as_of,
    mainEntity: {
      // An agent is a program, whoever stands behind it.
      '@type': isAgent(of) ? 'SoftwareApplication' : 'Person',
      ...at(path),
      identifier: idOf(of),
      name: plainName(of),
      ...(certificate && {
        hasCredential: {
          '@type': 'EducationalOccupationalCredential',
          name: certificate.name,
          credentialCategory: 'certification',
          ...at(`${callPath(kindOf(of), idOf(of))}/credential`),
          recognizedBy: { '@type': 'Organization', name: certificate.issuerName, ...at('/') },
          validFrom: certificate.validFrom,
          expires: certificate.validUntil,
        },
      }),
    },
  }
}
