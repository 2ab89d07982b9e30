// The worst values for each part of a request.

/** Splits a text at line ends and runs of two or more spaces. Escapes stay as they are written. */
function listed(text: TemplateStringsArray): string[] {
  return String.raw(text)
    .split(/ {2,}|\n/)
    .filter((value) => value !== '')
}

export const METHODS = listed`GET  HEAD  POST  PUT  PATCH  DELETE  OPTIONS  TRACE  PROPFIND  QUERY  CONNECT  get  FOO`

export const PATH_PARTS = [
  ...listed`
  ..  .  %2e%2e  %2e%2e%2f  ..%2f..%2fetc%2fpasswd  ..;  %252e%252e  ....//  %2f  %5c..%5c  \  %00  %0d%0aX-Injected:%201
  %c0%ae%c0%ae  %c0%af  %ff%fe  %  %zz  %u002e  %ed%a0%80  %f0%9f%a6%84  *  ~  :  :agent_id  {agent_id}  $  (a+)+$
  __proto__  constructor  toString  0  -1  null  <script>alert(1)</script>  ';--  #{7*7}  naïve`,
  '',
  'x'.repeat(5000),
  '%41'.repeat(2000),
  'a/'.repeat(2000),
]

export const TARGETS = [
  ...listed`
  *  /  //  ///  /?  /#  ?  x  http://  http://[::1  http://example.org/livez  //example.org/livez  /../../etc/passwd
  /%2e%2e/%2e%2e/etc/passwd  /sandbox  /sandbox/  /sandbox/../livez  /sandbox/sandbox/livez  /livez;x=1  /livez%20
  /livez%0a  /LIVEZ  /./livez  /livez/.  /docs/%2e%2e/livez`,
  `/${'x'.repeat(17_000)}`,
]

export const QUERIES = [
  ...listed`
  ?  ??  ?=  ?&&&  ?a  ?limit=1&limit=2  ?limit=  ?limit=1e9  ?limit=-1  ?limit=0x10  ?limit=9999999999
  ?status=open&status=open  ?status[]=open  ?status[$ne]=x  ?cursor=  ?cursor=1_2  ?cursor=999999999999999_x
  ?start_date=2026-02-30  ?start_date=2026-01-02&end_date=2026-01-01  ?start_date=../../x  ?end_date=%00
  ?__proto__=1  ?__proto__[x]=1  ?constructor.prototype.x=1  ?%ff=%fe  ?%=%  ?a=%F0%9F%A6  ?🦄=🦄  ?x=%0d%0aX-Injected:1`,
  `?${'a&'.repeat(5000)}`,
  `?${'limit=1&'.repeat(1500)}`,
  `?x=${'y'.repeat(15_000)}`,
]

export const HEADER_NAMES = [
  ...listed`
  Authorization  X-API-Key  Idempotency-Key  If-None-Match  If-Modified-Since  Content-Type  Content-Encoding  Host
  X-Forwarded-For  X-Forwarded-Host  X-Forwarded-Proto  Forwarded  Expect  Connection  Upgrade  Range  Origin  Cookie
  Access-Control-Request-Method  X-HTTP-Method-Override  Accept  Accept-Encoding  TE  __proto__  Transfer-Encoding
  Content-Length  X-Request-Id  X Y  X-Ünïcode`,
  '',
  'x'.repeat(2000),
]

export const HEADER_VALUES = [
  ...listed`
  ,  ;  "  "a  ""  a,b  *  W/"x"  naïve  🦄  -1  1e9  null  ../../x  %00  Bearer  Bearer x  bearer x y  Basic eDp5
  application/json; charset=utf-16  application/json; charset  application/json;;  text/plain  gzip  identity  127.0.0.1
  ::1, ::ffff:1.2.3.4, x  999.1.1.1  [::1]:80  chunked  0  5  99999999999  100-continue  the moon  close  keep-alive
  websocket`,
  '',
  ' ',
  '\t',
  '\u00a0',
  '\u0007',
  'x'.repeat(8000),
  'x'.repeat(16_300),
  `${'1.1.1.1, '.repeat(1000)}x`,
  'Bearer ',
  `Bearer ${'x'.repeat(9000)}`,
  `fv_live_${'A'.repeat(47)}`,
]

/** Values in JSON notation, valid or not. */
export const LITERALS = [
  ...listed`
  null  true  []  {}  ""  " "  -0  0  1  -1  0.5  1e999  -1e999  1e-999  99999999999999999999  0.1234567890123456789
  "\ud800"  "\udc00x"  "\u0000"  "\u202e"  "🦄"  "\ud83e\udd84"  "a\nb"  "../../x"  "NaN"  "0.5"  [0.5]  {"$gt":0}
  {"__proto__":{"a":1}}  NaN  Infinity  'x'  01  .5  +1  undefined`,
  '',
  `"${'x'.repeat(201)}"`,
  `"${'🦄'.repeat(200)}"`,
  `"${'x'.repeat(70_000)}"`,
  `1${'0'.repeat(400)}`,
  '['.repeat(60_000),
  `${'['.repeat(20_000)}${']'.repeat(20_000)}`,
  `[${'"x",'.repeat(10_000)}"x"]`,
  `${'{"a":'.repeat(9_000)}1${'}'.repeat(9_000)}`,
]
