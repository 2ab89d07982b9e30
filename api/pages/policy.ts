// Tells browsers that a page may only use this service: for its style, scripts, pictures, requests and forms.
// Only pictures may also be in data URLs.

export const PAGE_HEADERS = {
  'Content-Security-Policy': [
    "default-src 'none'",
    "style-src 'self'",
    "script-src 'self'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
}
