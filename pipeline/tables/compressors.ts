// Decompresses pages of the service's Parquet files for readers other than DuckDB.
import { zstdDecompressSync } from 'node:zlib'

/** For hyparquet. Node’s own decompressors are many times faster than any in JavaScript. */
export const COMPRESSORS = { ZSTD: (bytes: Uint8Array): Uint8Array => zstdDecompressSync(bytes) }
