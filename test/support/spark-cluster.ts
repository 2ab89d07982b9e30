// A standalone Spark cluster of processes on loopback: one master and its workers, each with one core.
import { readFile, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { RunningCommand } from './command.ts'
import { spark, sparkEnvironment } from './spark.ts'

export interface Cluster {
  /** The address of the master. */
  address: string
  /** What the master, the workers and all executors have logged. */
  logs(): Promise<string>
}

/** Call it inside a test: the cluster ends with the test. */
export async function startCluster(folder: string, workers: number): Promise<Cluster> {
  const master = start(folder, 'deploy.master.Master', ['--webui-port', '0'])
  const work = join(folder, 'work')
  const [address] = await master.printed(/spark:\/\/127\.0\.0\.1:\d+/)
  const started = Array.from({ length: workers }, () => {
    const place = ['--webui-port', '0', '--work-dir', work, '--cores', '1', '--memory', '1g']
    return start(folder, 'deploy.worker.Worker', [...place, address])
  })
  await Promise.all(started.map((worker) => worker.printed(/registered with master/)))
  return {
    address,
    logs: async () => {
      const names = (await readdir(work, { recursive: true })).filter((name) => /\/std(err|out)$/.test(name))
      const written = await Promise.all(names.map((name) => readFile(join(work, name), 'utf8')))
      return [master.output, ...started.map(({ output }) => output), ...written].join('\n')
    },
  }
}

function start(folder: string, name: string, options: readonly string[]): RunningCommand {
  const program = join(spark!.SPARK_HOME, 'bin/spark-class')
  const words = [`org.apache.spark.${name}`, '--host', '127.0.0.1', '--port', '0', ...options]
  const command = new RunningCommand(program, words, {
    env: {
      ...sparkEnvironment(folder),
      SPARK_DAEMON_MEMORY: '256m',
      SPARK_MASTER_OPTS: '-Dspark.master.rest.enabled=false',
    },
  })
  onTestFinished(async () => void (await command.stop('SIGTERM')))
  return command
}
