import { expect, test, vi } from 'vitest'
import { makeTemporaryFolder } from '../../../jobs/components/temporary-folder.ts'

test('a temporary folder that is not there is named, with the setting of another', async () => {
  vi.stubEnv('TMPDIR', '/not/there')
  try {
    await expect(makeTemporaryFolder('work')).rejects.toMatchObject({
      kind: 'unavailable',
      message: 'the temporary folder /not/there cannot be used (ENOENT); make it, or set TMPDIR to another',
    })
  } finally {
    vi.unstubAllEnvs()
  }
})
