// The options for reaching the place of a backup.
import type { OtherPlace } from '../components/own-store.ts'
import type { GlobalOptions } from './program.ts'

export interface BackupOptions extends GlobalOptions {
  s3Endpoint?: string
  s3Profile?: string
}

export const ENDPOINT = [
  '--s3-endpoint <url>',
  'the address of the S3-compatible server of the backup (default: S3_ENDPOINT)',
] as const
export const PROFILE = [
  '--s3-profile <name>',
  'the profile of ~/.aws with the credentials of the backup (default: those of the store)',
] as const

export const otherPlace = ({ s3Endpoint, s3Profile }: BackupOptions): OtherPlace => ({
  s3Endpoint,
  s3Profile,
})
