// A standalone Spark cluster of processes on loopback: one master and its workers, each with one core.
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { RunningCommand } from './command.ts'
import { spark, sparkEnvironment } from './spark.ts'

/** Starts it and returns the address of its master. Call it inside a test: the cluster ends with the test. */
export async function startCluster(folder: string, workers: number): Promise<string> {
  const master = start(folder, 'deploy.master.Master', ['--webui-port', '0'])
  const [address] = await master.printed(/spark:\/\/127\.0\.0\.1:\d+/)
  const registered = Array.from({ length: workers }, () => {
    const place = ['--webui-port', '0', '--work-dir', join(folder, 'work'), '--cores', '1', '--memory', '1g']
    return start(folder, 'deploy.worker.Worker', [...place, address]).printed(/registered with master/)
  })
  await Promise.all(registered)
  return address
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
