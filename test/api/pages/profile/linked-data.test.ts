// What a profile says to search engines, and the links to the certificate of those who hold one.
import { expect, it } from 'vitest'
import type { Html } from '../../../../api/pages/html.ts'
import { profilePage } from '../../../../api/pages/profile/profile.ts'
import { SUBJECT, profileIn } from '../../../support/worlds/profile-world.ts'

const certificate = {
  name: 'Certified forecaster',
  issuerName: 'example.org',
  validFrom: '2026-05-13T00:00:00.000Z',
  validUntil: '2026-08-11T00:00:00.000Z',
}

/** The data in a page, as a browser finds it. */
function dataIn({ text }: Html): { mainEntity: Record<string, unknown> } & Record<string, unknown> {
  const [, json, ...others] = /<script type="application\/ld\+json">([^]*?)<\/script>/i.exec(text)!
  expect(others).toEqual([])
  return JSON.parse(json!) as ReturnType<typeof dataIn>
}

it('of a holder names the credential, with whole addresses', () => {
  const profile = profileIn({ questions: 130, error: 0, peersKnow: 0, publicUrl: 'https://example.org' })
  expect(dataIn(profilePage({ ...profile, certificate }))).toEqual({
    '@context': 'https://schema.org',
    '@type': 'ProfilePage',
    url: `https://example.org/view/agents/${SUBJECT}`,
    dateModified: profile.published.verification.as_of,
    mainEntity: {
      '@type': 'SoftwareApplication',
      url: `https://example.org/view/agents/${SUBJECT}`,
      identifier: SUBJECT,
      name: 'crow',
      hasCredential: {
        '@type': 'EducationalOccupationalCredential',
        name: 'Certified forecaster',
        credentialCategory: 'certification',
        url: `https://example.org/agents/${SUBJECT}/credential`,
        recognizedBy: { '@type': 'Organization', name: 'example.org', url: 'https://example.org/' },
        validFrom: certificate.validFrom,
        expires: certificate.validUntil,
      },
    },
  })
})

it('without a certificate or the address of the service leaves them out', () => {
  const { mainEntity, ...page } = dataIn(profilePage(profileIn({ questions: 30, kind: 'forecaster' })))
  expect(page['url']).toBeUndefined()
  expect(Object.keys(mainEntity)).toEqual(['@type', 'identifier', 'name'])
  expect(mainEntity['@type']).toBe('Person')
})

it.each(['</script><script>alert(1)</script>', '<!--<script>', '"\\', ']]>'])(
  'keeps the name %s as text',
  (name) => {
    const page = profilePage(profileIn({ questions: 30, facts: { name } }))
    expect(dataIn(page).mainEntity['name']).toBe(name)
    expect(page.text.match(/<script type="application\/ld\+json">.*/)![0]).not.toMatch(
      /<(?!script type|\/script>$)/,
    )
  },
)

it('links the credential and the files that carry it for a holder alone', () => {
  const profile = profileIn({ questions: 130, error: 0, peersKnow: 0 })
  const links = [
    `href="/agents/${SUBJECT}/credential"`,
    `href="/agents/${SUBJECT}/badge.svg" download="${SUBJECT}.svg"`,
    '<link rel="alternate" type="application/vc"',
  ]
  const [held, none] = [profilePage({ ...profile, certificate }).text, profilePage(profile).text]
  for (const link of links) {
    expect(held).toContain(link)
    expect(none).not.toContain(link)
  }
})
