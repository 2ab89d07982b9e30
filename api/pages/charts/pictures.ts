// The pictures for `badge.png`, one for each environment, which `assets/pictures/make.sh` has drawn.
import { readFileSync } from 'node:fs'
import { ENVIRONMENTS, type Environment } from '../../../schemas/values.ts'

const pictures = new Map(
  ENVIRONMENTS.map((environment) => {
    const path = `../assets/pictures/certified-${environment}.png`
    return [environment, readFileSync(new URL(path, import.meta.url))] as const
  }),
)

export function pictureOf(environment: Environment): Uint8Array {
  return pictures.get(environment)!
}
