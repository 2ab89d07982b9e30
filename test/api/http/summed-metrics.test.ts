// What several processes measure, added up.
import { expect, test } from 'vitest'
import { Metrics } from '../../../api/http/metrics.ts'
import { SummedMetrics } from '../../../api/http/summed-metrics.ts'

const answered = { method: 'GET', route: '/', status: '200' }

function measuring(calls: number, release: number): Metrics {
  const metrics = new Metrics()
  for (let call = 0; call < calls; call += 1) metrics.requests.observe(answered, 0.003)
  metrics.release.set({ environment: 'production' }, release)
  metrics.releaseAge.set({ environment: 'production' }, release * 10)
  metrics.checks.set({ environment: 'production', check: 'reads' }, release - 1)
  metrics.queued.set({ environment: 'production' }, 5)
  return metrics
}

test('counts are added, of a gauge the worst is shown, and a process that ends takes nothing back', async () => {
  const summed = new SummedMetrics()
  summed.measured(1, await measuring(3, 1).measured())
  summed.measured(2, await measuring(4, 2).measured())
  const text = await summed.text()
  expect(text).toContain('fvs_http_request_seconds_count{method="GET",route="/",status="200"} 7')
  expect(text).toContain('fvs_http_request_seconds_bucket{le="0.005",method="GET",route="/",status="200"} 7')
  expect(text).toContain('fvs_release{environment="production"} 1')
  expect(text).toContain('fvs_release_age_seconds{environment="production"} 20')
  expect(text).toContain('fvs_check_ok{environment="production",check="reads"} 0')
  expect(text).toContain('fvs_commit_queued{environment="production"} 10')

  await summed.ended(1)
  summed.measured(3, await measuring(2, 2).measured())
  const later = await summed.text()
  expect(later).toContain('fvs_http_request_seconds_count{method="GET",route="/",status="200"} 9')
  expect(later).toContain('fvs_release{environment="production"} 2')
  expect(later).toContain('fvs_commit_queued{environment="production"} 10')
})
