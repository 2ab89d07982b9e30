// An audit over HTTP of the service itself. What lying servers do is in outside.test.ts.
import { expect, test } from 'vitest'
import { auditedOutside } from '../support/audited-outside.ts'
import { suiteFolder } from '../support/folder.ts'
import { startTestService, testComponents } from '../support/http/service.ts'
import { copyOf } from '../support/store-content.ts'
import { loggedWorld } from '../support/worlds/logged-world.ts'
import { LOG_ORIGIN } from '../support/worlds/written-log.ts'

const folder = await suiteFolder()
const { store: world } = await loggedWorld(folder)

test.for([
  ['releases', false],
  ['tables', true],
] as const)(
  'a service that lets out its %s is audited by whoever has the key of its log alone',
  { tags: ['slow'] },
  async ([PUBLIC_DATA, derived]) => {
    const components = await testComponents({ store: copyOf(world), folder, settings: { PUBLIC_DATA } })
    const service = await startTestService(components)
    try {
      const report = await auditedOutside(folder, `${service.url}/data/`)
      expect(report.faults).toEqual([])
      expect(report).toMatchObject({
        ok: true,
        derived,
        release: 3,
        log: { origin: LOG_ORIGIN, entries: 3 },
      })
      expect(report.requests).toBeLessThan(60)
    } finally {
      await service.stop()
    }
  },
)

test('one changed byte of a file is found, with its path', { tags: ['slow'] }, async () => {
  const store = copyOf(world)
  const path = [...store.objects.keys()].find((each) => each.startsWith('releases/00000003/leaderboard/'))!
  const bytes = store.objects.get(path)!
  store.objects.set(path, bytes.with(bytes.length - 1, 0))
  const service = await startTestService(await testComponents({ store, folder }))
  try {
    const { ok, faults } = await auditedOutside(folder, `${service.url}/data/`)
    expect({ ok, faults }).toEqual({ ok: false, faults: [expect.stringContaining(`${path}: `)] })
  } finally {
    await service.stop()
  }
})
