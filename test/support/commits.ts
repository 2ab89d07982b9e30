// Commits of tables as no version of the service writes them now.
import { sha256Hex } from '../../pipeline/proof/canonical.ts'

/** A changed commit, with a checksum of its own. */
export function sealed(path: string, commit: string): Uint8Array {
  const end = commit.indexOf('\n') + 1
  const { commitInfo } = JSON.parse(commit.slice(0, end)) as { commitInfo: Record<string, unknown> }
  const { checksum: _, ...info } = commitInfo
  const rest = commit.slice(end)
  const checksum = sha256Hex(`${path}\n${JSON.stringify({ commitInfo: info })}\n${rest}`)
  return new TextEncoder().encode(`${JSON.stringify({ commitInfo: { ...info, checksum } })}\n${rest}`)
}
