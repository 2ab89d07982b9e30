// How pages of the Parquet files of the service are decompressed where DuckDB does not read them.
import { zstdDecompressSync } from 'node:zlib'

/** For hyparquet. Node’s own are many times faster than any in JavaScript. */
export const COMPRESSORS = { ZSTD: (bytes: Uint8Array): Uint8Array => zstdDecompressSync(bytes) }
