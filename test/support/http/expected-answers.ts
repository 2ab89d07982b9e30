// What a service may answer while releases come: of what release an answer is, and what is wrong with it.
import { canonical, sha256Hex } from '../../../pipeline/proof/canonical.ts'
import { signatureHolds, signatureOf } from '../../../pipeline/proof/hmac.ts'
import { readReleaseShard } from '../../../pipeline/release/read.ts'
import { isShardPath } from '../../../pipeline/store/paths.ts'
import type { Store } from '../../../pipeline/store/store.ts'
import type { PublicationKind } from '../../../schemas/metric.ts'
import type { ReleaseManifest } from '../../../schemas/manifests.ts'
import type { RawAnswer } from './raw-http.ts'

export interface Question {
  /** Answers of one kind come in the order of their releases. */
  kind: string
  /** Of whom and what, for an answer that is a payload as it was published. */
  published?: { id: string; kind: PublicationKind | 'profile' }
}

/** The release of an answer, undefined for one that names none; or what is wrong with it. */
export type Judgement = { release: number | undefined } | { wrong: string }

/** What the service signs answers with, and what the releases were signed with. */
interface Secrets {
  served: string
  published: string
}

export class Expected {
  readonly #secrets: Secrets
  /** Of each payload of each release, the signature that was published with it. */
  readonly #signatures = new Map<string, string>()
  /** Of answers that came before. */
  readonly #judged = new Map<string, Judgement>()

  constructor(secrets: Secrets) {
    this.#secrets = secrets
  }

  async add(store: Store, { release, files }: ReleaseManifest): Promise<void> {
    for (const file of files.filter(({ path }) => isShardPath(path))) {
      const { entities } = await readReleaseShard(store, release, file)
      for (const [id, publications] of Object.entries(entities)) {
        for (const [kind, publication] of Object.entries(publications)) {
          this.#signatures.set(`${release} ${id} ${kind}`, (publication as { signature: string }).signature)
        }
      }
    }
  }

  judge(question: Question, path: string, { status, headers, body }: RawAnswer): Judgement {
    const { etag: tag, 'x-service-signature': signature } = headers
    if (status !== 200) return { wrong: `${status} ${body.toString().slice(0, 300)}` }
    const hash = sha256Hex(body)
    if (tag !== undefined && tag !== `"${hash}"`) return { wrong: `the entity tag ${tag} for ${hash}` }
    const known = this.#judged.get(`${path} ${hash} ${signature}`)
    if (known) return known
    const judgement = this.#judgeNew(question, signature, body)
    this.#judged.set(`${path} ${hash} ${signature}`, judgement)
    return judgement
  }

  #judgeNew({ kind, published }: Question, signature: string | undefined, body: Buffer): Judgement {
    if (signature !== undefined && !signatureHolds(body, signature, [this.#secrets.served])) {
      return { wrong: 'a signature that does not hold' }
    }
    if (kind === 'bulk') return this.#judgeBulk(body)
    // It names earlier ones too, which it is made of.
    if (kind === 'current release') return JSON.parse(body.toString()) as { release: number }
    const releases = releasesIn(body)
    if (kind === 'snapshots') return { release: Math.max(...releases) }
    if (releases.size > 1) return { wrong: `parts of releases ${[...releases].join(', ')}` }
    const [release] = releases
    const isRight = !published || this.#isPublished(release!, published, body)
    return isRight ? { release } : { wrong: `not what release ${release} says` }
  }

  #judgeBulk(body: Buffer): Judgement {
    const { results } = JSON.parse(body.toString()) as {
      results: { id: string; signature: string; verification: object }[]
    }
    const releases = releasesIn(body)
    if (releases.size !== 1) return { wrong: `parts of releases ${[...releases].join(', ')}` }
    const [release] = releases
    for (const { id, signature, verification } of results) {
      const bytes = canonical(verification)
      const isRight =
        signatureHolds(bytes, signature, [this.#secrets.served]) &&
        this.#isPublished(release!, { id, kind: 'verification' }, bytes)
      if (!isRight) return { wrong: `not what release ${release} says of ${id}` }
    }
    return { release }
  }

  #isPublished(
    release: number,
    { id, kind }: NonNullable<Question['published']>,
    bytes: Uint8Array,
  ): boolean {
    return (
      this.#signatures.get(`${release} ${id} ${kind}`) ===
      signatureOf(bytes, { current: this.#secrets.published })
    )
  }
}

/** Also of a page, which shows the verification. */
function releasesIn(body: Buffer): Set<number> {
  const named = body.toString().matchAll(/(?:"|&quot;)release(?:"|&quot;):(\d+)/g)
  return new Set(Array.from(named, ([, release]) => Number(release)))
}
