// Base64 as the formats of transparency logs have it (RFC 4648 §4): padded, and with one text for the same bytes.
export function base64Of(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64')
}
