// The pictures of titles for `badge.png`, which `assets/pictures/make.sh` has drawn.
import { readFileSync } from 'node:fs'
import { CERTIFIED_TITLES, type CertifiedTitle } from '../../../schemas/credentials.ts'
import { ENVIRONMENTS, type Environment } from '../../../schemas/values.ts'

const pictures = new Map(
  ENVIRONMENTS.flatMap((environment) =>
    CERTIFIED_TITLES.map((title) => {
      const name = `${title}-${environment}.png`
      const path = `../assets/pictures/${name}`
      return [name, readFileSync(new URL(path, import.meta.url))] as const
    }),
  ),
)

export function pictureOf(title: CertifiedTitle, environment: Environment): Uint8Array {
  return pictures.get(`${title}-${environment}.png`)!
}
