// Apache Spark for tests: runs a Python program by spark-submit, on this machine alone or on a cluster of
// processes.
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { RunningCommand } from './command.ts'
import { external } from './external.ts'

/** Undefined without Spark: `describe.skipIf(!spark)`. */
export const spark = external(
  ['SPARK_HOME', 'SPARK_PYTHON', 'SPARK_JARS', 'AWS_BUNDLE', 'JAVA_HOME'],
  'these tests need Apache Spark: eval "$(test/support/spark.sh DIR)"',
)

/** Two threads of one process. A task may fail three times: without the second number it ends the job. */
export const LOCAL = 'local[2,4]'

/** Short runs on few cores: no optimizing compiler, few partitions, nothing but loopback. */
const JAVA_OPTIONS = '-XX:TieredStopAtLevel=1 -XX:+UseSerialGC'
const CONFIGURATION = {
  'spark.driver.memory': '1g',
  'spark.driver.host': '127.0.0.1',
  'spark.driver.bindAddress': '127.0.0.1',
  'spark.ui.enabled': 'false',
  'spark.log.level': 'WARN',
  'spark.sql.shuffle.partitions': '2',
  'spark.databricks.delta.snapshotPartitions': '1',
  'spark.sql.extensions': 'io.delta.sql.DeltaSparkSessionExtension',
  'spark.sql.catalog.spark_catalog': 'org.apache.spark.sql.delta.catalog.DeltaCatalog',
  'spark.sql.session.timeZone': 'UTC',
}

export interface Submission {
  /** Home directory and folder for temporary files. */
  folder: string
  master?: string
  configuration?: Record<string, string>
  env?: Record<string, string>
}

/** Starts a program. Call it inside a test: it ends with the test. */
export function submit(
  program: string,
  args: readonly string[],
  { folder, master = LOCAL, configuration = {}, env = {} }: Submission,
): RunningCommand {
  const { SPARK_HOME, SPARK_JARS, AWS_BUNDLE } = spark!
  const jars = readdirSync(SPARK_JARS).map((jar) => join(SPARK_JARS, jar))
  // Half a gigabyte, which a cluster has on each machine beside Spark, and no job sends around.
  const installed = {
    'spark.driver.extraClassPath': AWS_BUNDLE,
    'spark.executor.extraClassPath': AWS_BUNDLE,
    'spark.driver.extraJavaOptions': JAVA_OPTIONS,
    'spark.executor.extraJavaOptions': JAVA_OPTIONS,
  }
  const settings = Object.entries({ ...CONFIGURATION, ...installed, ...configuration })
  const options = [
    ['--master', master, '--jars', jars.join(',')],
    ...settings.map(([name, value]) => ['--conf', `${name}=${value}`]),
  ].flat()
  const command = new RunningCommand(join(SPARK_HOME, 'bin/spark-submit'), [...options, program, ...args], {
    env: { ...sparkEnvironment(folder), ...env },
  })
  onTestFinished(async () => void (await command.stop('SIGTERM')))
  return command
}

/** What Spark's own scripts need, with nothing of this process that would change what they do. */
export function sparkEnvironment(folder: string): Record<string, string | undefined> {
  const { SPARK_HOME, SPARK_PYTHON, JAVA_HOME } = spark!
  return {
    HOME: folder,
    TMPDIR: folder,
    SPARK_HOME,
    JAVA_HOME,
    PYSPARK_PYTHON: SPARK_PYTHON,
    PYSPARK_DRIVER_PYTHON: SPARK_PYTHON,
    PYTHONDONTWRITEBYTECODE: '1',
    SPARK_LOCAL_DIRS: folder,
    SPARK_LOCAL_IP: '127.0.0.1',
    SPARK_NO_DAEMONIZE: '1',
  }
}
