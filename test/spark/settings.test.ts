// What the job hands on to Spark, to its client of S3 and to the filters of the workers.
import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { spark } from '../support/spark.ts'

const pathOf = (name: string) => fileURLToPath(new URL(name, import.meta.url))

function settingsOf(
  environment: Record<string, string>,
  told: Record<string, string> = {},
): Record<string, string> {
  const words = [pathOf('settings.py'), pathOf('../../jobs/spark/release.py')]
  const given = [environment, told].map((value) => JSON.stringify(value))
  const printed = execFileSync(spark!.SPARK_PYTHON, [...words, ...given], {
    env: { PYTHONDONTWRITEBYTECODE: '1' },
  })
  return JSON.parse(printed.toString()) as Record<string, string>
}

describe.skipIf(!spark)('the settings of a job', () => {
  test('hand on every variable of an S3 client, by which Spark finds keys, a role or a profile too', () => {
    const aws = {
      AWS_ROLE_ARN: 'arn:aws:iam::1:role/fvs',
      AWS_WEB_IDENTITY_TOKEN_FILE: '/var/run/secrets/token',
      AWS_PROFILE: 'releases',
      AWS_CONFIG_FILE: '/etc/aws/config',
      AWS_SHARED_CREDENTIALS_FILE: '/etc/aws/credentials',
      AWS_SESSION_TOKEN: 'a token',
      AWS_CONTAINER_CREDENTIALS_FULL_URI: 'http://169.254.170.23/v1/credentials',
      AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: '/var/run/secrets/pods',
    }
    const settings = settingsOf({ ...aws, PATH: '/usr/bin', HOME: '/root', DATABASE_PASSWORD: 'secret' })
    const handedOn = Object.entries(aws).map(([name, value]) => [`spark.executorEnv.${name}`, value])
    const variables = Object.entries(settings).filter(([name]) => name.startsWith('spark.executorEnv.'))
    expect(Object.fromEntries(variables)).toEqual(Object.fromEntries(handedOn))
    expect(settings['spark.hadoop.fs.s3a.aws.credentials.provider']).toBe(
      'software.amazon.awssdk.auth.credentials.DefaultCredentialsProvider',
    )
  })

  test('bring the authorities that Node trusts to the filters and to the Java of the workers', () => {
    const told = { 'spark.files': 'more.txt', 'spark.executor.extraJavaOptions': '-Xss4m' }
    expect(settingsOf({ NODE_EXTRA_CA_CERTS: '/etc/ssl/own.pem' }, told)).toMatchObject({
      'spark.executorEnv.NODE_EXTRA_CA_CERTS': 'own.pem',
      'spark.files': 'more.txt,/etc/ssl/own.pem,/tmp/job/fvs-authorities.keystore',
      'spark.executor.extraJavaOptions':
        '-Xss4m -Djavax.net.ssl.trustStore=fvs-authorities.keystore -Djavax.net.ssl.trustStorePassword=changeit',
    })
  })

  test('leave alone what spark-submit was told, and what Kubernetes gives its pods from a secret', () => {
    const environment = {
      S3_ENDPOINT: 'https://s3.example',
      AWS_REGION: 'eu-west-1',
      AWS_SECRET_ACCESS_KEY: 'secret',
      VERIFICATION_SIGNING_SECRET: 'secret',
    }
    const settings = settingsOf(environment, {
      'spark.hadoop.fs.s3a.endpoint': 'https://other.example',
      'spark.executorEnv.AWS_REGION': 'eu-west-2',
      'spark.kubernetes.executor.secretKeyRef.AWS_SECRET_ACCESS_KEY': 'fvs:AWS_SECRET_ACCESS_KEY',
      'spark.kubernetes.executor.secretKeyRef.VERIFICATION_SIGNING_SECRET': 'fvs:VERIFICATION_SIGNING_SECRET',
    })
    expect(settings).toMatchObject({
      'spark.executorEnv.S3_ENDPOINT': 'https://s3.example',
      'spark.hadoop.fs.s3a.endpoint.region': 'eu-west-1',
      'spark.hadoop.fs.s3a.path.style.access': 'true',
    })
    expect(Object.keys(settings)).not.toContain('spark.hadoop.fs.s3a.endpoint')
    expect(Object.keys(settings)).not.toContain('spark.executorEnv.AWS_REGION')
    expect(Object.values(settings)).not.toContain('secret')
  })
})
