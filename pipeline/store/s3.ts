// A store in an S3-compatible bucket. This is the only file that uses the AWS client.
import {
  DeleteObjectCommand,
  GetObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
  S3ServiceException,
} from '@aws-sdk/client-s3'
import { NodeHttpHandler } from '@smithy/node-http-handler'
import { createReadStream } from 'node:fs'
import { ServiceError } from '../../schemas/errors.ts'
import type { Body, LocalFile } from './body.ts'
import { assertPath, assertPrefix, isPath } from './paths.ts'
import { type OneByOne, type Store, type StoredObject, byPutIfAbsent, everything } from './store.ts'

export interface S3Settings {
  bucket: string
  /** Without a leading slash; either empty or ending in a slash. */
  prefix: string
  /** For servers other than Amazon's. Credentials and region come from the AWS client's own variables. */
  endpoint?: string | undefined
  /** The profile in the AWS client's files that gives the credentials instead. */
  profile?: string | undefined
  requestTimeoutMs?: number | undefined
}

export class S3Store implements Store {
  readonly url: string
  readonly mark = undefined
  readonly #bucket: string
  readonly #prefix: string
  readonly #client: S3Client

  constructor({ bucket, prefix, endpoint, profile, requestTimeoutMs = 20_000 }: S3Settings) {
    this.url = `s3://${bucket}/${prefix}`
    this.#bucket = bucket
    this.#prefix = prefix
    this.#client = new S3Client({
      ...(endpoint === undefined ? {} : { endpoint, forcePathStyle: true }),
      ...(profile === undefined ? {} : { profile }),
      // Not every S3-compatible server supports the newer trailing checksums.
      requestChecksumCalculation: 'WHEN_REQUIRED',
      responseChecksumValidation: 'WHEN_REQUIRED',
      requestHandler: new NodeHttpHandler({
        connectionTimeout: 5_000,
        requestTimeout: requestTimeoutMs,
        // The request timeout ends with the first byte of the answer; this one covers the rest.
        socketTimeout: requestTimeoutMs,
        throwOnRequestTimeout: true,
      }),
    })
  }

  localPath(): undefined {
    return undefined
  }

  oneByOne(): OneByOne {
    return byPutIfAbsent(this)
  }

  async get(path: string, signal?: AbortSignal): Promise<Uint8Array | undefined> {
    return this.#read(path, undefined, signal)
  }

  async range(path: string, offset: number, length: number): Promise<Uint8Array | undefined> {
    // HTTP cannot ask for zero bytes. Ask for one, because the answer must still tell whether the object
    // exists.
    const bytes = await this.#read(path, `bytes=${offset}-${offset + Math.max(length, 1) - 1}`)
    return length === 0 ? bytes?.subarray(0, 0) : bytes
  }

  async *list(prefix: string, after = '', wanted = everything): AsyncIterable<StoredObject> {
    assertPrefix(prefix)
    let token: string | undefined
    do {
      const page = await this.#call(prefix, () =>
        this.#client.send(
          new ListObjectsV2Command({
            Bucket: this.#bucket,
            Prefix: this.#prefix + prefix,
            ...(after === '' ? {} : { StartAfter: this.#prefix + after }),
            ContinuationToken: token,
          }),
        ),
      )
      for (const { Key, Size, LastModified } of page.Contents ?? []) {
        const path = Key?.slice(this.#prefix.length)
        // A console makes empty objects for folders, and others may put objects into the bucket too.
        if (path === undefined || !wanted(path) || !isPath(path)) continue
        // An unknown age must stay unknown: with the epoch the object would look ancient.
        const modifiedAt = LastModified ?? new Date(Number.NaN)
        yield { path, sizeBytes: Size ?? 0, modifiedAt }
      }
      token = page.NextContinuationToken
    } while (token !== undefined)
  }

  async putIfAbsent(path: string, body: Body, signal?: AbortSignal): Promise<boolean> {
    assertPath(path)
    const create = async () => {
      await this.#put(path, body, '*', signal)
      return true
    }
    return this.#call(path, create, { 412: false })
  }

  async put(path: string, body: Body): Promise<void> {
    assertPath(path)
    await this.#call(path, () => this.#put(path, body))
  }

  async delete(path: string): Promise<void> {
    assertPath(path)
    await this.#call(path, () =>
      this.#client.send(new DeleteObjectCommand({ Bucket: this.#bucket, Key: this.#prefix + path })),
    )
  }

  async #put(path: string, body: Body, ifNoneMatch?: '*', signal?: AbortSignal): Promise<void> {
    const isBytes = body instanceof Uint8Array
    const command = new PutObjectCommand({
      Bucket: this.#bucket,
      Key: this.#prefix + path,
      // The client does not repeat a request whose body is a stream, so `sendsFile` replaces these bytes with
      // a fresh stream for each attempt.
      Body: isBytes ? body : new Uint8Array(),
      ContentLength: isBytes ? body.byteLength : body.sizeBytes,
      ContentType: path.endsWith('.json') ? 'application/json' : 'application/octet-stream',
      IfNoneMatch: ifNoneMatch,
    })
    if (isBytes) {
      await this.#client.send(command, signal ? { abortSignal: signal } : {})
      return
    }
    sendsFile(command, body)
    const ended = new AbortController()
    const abortSignal = signal ? AbortSignal.any([signal, ended.signal]) : ended.signal
    try {
      // The file may take any time, as long as the socket is not silent.
      await this.#client.send(command, { abortSignal, requestTimeout: 0 })
    } finally {
      // Closes connections on which an answer came before the whole file was sent.
      ended.abort()
    }
  }

  async #read(path: string, range?: string, signal?: AbortSignal): Promise<Uint8Array | undefined> {
    assertPath(path)
    const request = async () => {
      const command = new GetObjectCommand({ Bucket: this.#bucket, Key: this.#prefix + path, Range: range })
      const answer = await this.#client.send(command, signal ? { abortSignal: signal } : {})
      return await answer.Body!.transformToByteArray()
    }
    return this.#call(path, request, { 404: undefined, 416: new Uint8Array() })
  }

  /**
   * Returns the result in `results` for the status of an error. Turns other errors into `unavailable`.
   * Repeats a conditional write that is answered with 409, as Amazon asks when two writes overlap.
   */
  async #call<T, R = never>(
    path: string,
    request: () => Promise<T>,
    results: Record<number, R> = {},
  ): Promise<T | R> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await request()
      } catch (cause) {
        if (cause instanceof S3ServiceException) {
          const status = cause.$metadata.httpStatusCode ?? 0
          if (status === 409 && attempt < 10) continue
          // Any other 404 is not about the object: the bucket does not exist, or a proxy does not find the
          // server.
          const isAnswer = status !== 404 || cause.name === 'NoSuchKey'
          if (status in results && isAnswer) return results[status] as R
        }
        throw new ServiceError(
          'unavailable',
          `the store did not answer for ${path || 'its first object'} (${this.#reason(cause)})`,
          {
            cause,
            retryAfterS: 5,
          },
        )
      }
    }
  }

  #reason(cause: unknown): string {
    if (!(cause instanceof S3ServiceException)) {
      if (!(cause instanceof Error)) return String(cause)
      if (cause.message === 'Region is missing') return 'no region is set: set AWS_REGION'
      if (cause.name === 'CredentialsProviderError')
        return 'no credentials are set: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY'
      // The lines after the first are advice for users of the client.
      return `${cause.name}: ${cause.message.split('\n')[0]}`
    }
    const status = `HTTP ${cause.$metadata.httpStatusCode}`
    if (cause.name === 'NoSuchBucket') return `${status}: there is no bucket ${JSON.stringify(this.#bucket)}`
    // Leaves out the client's words for an answer that names no error.
    const words = [cause.name, cause.message].filter((text) => !/^Unknown(Error)?$/.test(text))
    return [status, ...words].join(': ')
  }
}

/**
 * Makes each attempt of a command send a file, and signs the SHA-256 of the file. The client itself would
 * sign a stream's content as unknown, and the server would accept whatever arrives.
 */
function sendsFile({ middlewareStack }: PutObjectCommand, { location, sha256 }: LocalFile): void {
  middlewareStack.add(
    (next) => (args) => {
      const { headers } = args.request as { headers: Record<string, string> }
      headers['x-amz-content-sha256'] = sha256
      return next(args)
    },
    { step: 'build', name: 'sha256OfFile' },
  )
  middlewareStack.add(
    (next) => async (args) => {
      const body = createReadStream(location)
      const unreadable = new Promise<never>((_, reject) => body.once('error', reject))
      // The original stays as it is, because the client inspects it before it repeats the request.
      const request = Object.assign(Object.create(Object.getPrototypeOf(args.request)), args.request, {
        body,
      })
      try {
        return await Promise.race([next({ ...args, request }), unreadable])
      } finally {
        body.destroy()
      }
    },
    { step: 'deserialize', priority: 'high', name: 'streamOfFile' },
  )
}
