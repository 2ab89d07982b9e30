// The types of problems that a program can branch on, with their names and the texts of their pages.

export interface ProblemType {
  readonly status: number
  readonly title: string
  readonly happened: string
  readonly remedy: string
}

/** The types by the last part of their addresses, in the order of their statuses. */
export const PROBLEM_TYPES = {
  'malformed-request': {
    status: 400,
    title: 'The request is malformed',
    happened: 'What was sent is not a valid HTTP/1.1 request, or says the same thing twice.',
    remedy: 'Send it with an HTTP library. `detail` says what was wrong.',
  },
  'unreadable-body': {
    status: 400,
    title: 'The body cannot be read',
    happened: 'The body is not JSON in UTF-8, has a field twice in one object, or ended early.',
    remedy: 'Send the JSON that `detail` asks for; it names the line and column of the fault.',
  },
  'no-key': {
    status: 401,
    title: 'A key is missing',
    happened: 'The call needs the API key of an agent, and none was sent.',
    remedy: 'Send `Authorization: Bearer <api_key>` with the key from the registration.',
  },
  'unknown-key': {
    status: 401,
    title: 'The key is unknown',
    happened: 'The key was never given out, was revoked, or belongs to the other environment.',
    remedy:
      'Use the key from the registration, on the service that gave it out. A lost key cannot be shown again.',
  },
  'other-agents-key': {
    status: 403,
    title: 'The key belongs to another agent',
    happened: 'The key is good, but not that of the agent in the path.',
    remedy: 'Use the key of that agent, or the path of the agent whose key it is.',
  },
  'missing-scope': {
    status: 403,
    title: 'The key lacks a scope',
    happened: 'The key is an operator’s, and was not made for calls of this kind.',
    remedy: 'Use a key with the scope that `detail` names: `fvs keys create --kind operator --scopes …`.',
  },
  'not-invited': {
    status: 403,
    title: 'An invitation is needed',
    happened: 'Only those who are invited may register an agent here, and no good code was sent.',
    remedy: 'Ask the operator for a code, and send it as `invitation`. Each registers one agent.',
  },
  'registration-closed': {
    status: 403,
    title: 'Registration is closed',
    happened: 'Nobody may register an agent here. Agents that are registered go on.',
    remedy: 'Ask the operator.',
  },
  'other-origin': {
    status: 403,
    title: 'A page of another origin asks',
    happened: 'A browser sent the request for a page that is not of this service.',
    remedy: 'Call from a program, or from a page of the service.',
  },
  'named-by-operator': {
    status: 403,
    title: 'The operator has named the agent',
    happened: 'The operator has renamed or hidden the agent, so that it cannot rename itself.',
    remedy: 'Ask the operator for another name.',
  },
  'owned-by-operator': {
    status: 403,
    title: 'The operator has said who owns the agent',
    happened: 'The operator decides who answers for the agent, so that it cannot claim an owner by a domain.',
    remedy: 'Ask the operator.',
  },
  'unknown-path': {
    status: 404,
    title: 'There is no such path',
    happened: 'The service has no call under the path.',
    remedy: 'Look the call up in `/openapi.json`, or in `/docs`.',
  },
  'not-found': {
    status: 404,
    title: 'There is nothing with this name',
    happened:
      'The call exists, but not the question, agent, forecaster, owner, release or part of the public log that it names.',
    remedy: 'Check the id. `detail` says what is missing.',
  },
  'not-released-yet': {
    status: 404,
    title: 'No release has covered it yet',
    happened:
      'It is known, but nothing has been published about it: it is newer than the current release, or is an agent that has made no forecast.',
    remedy:
      'Ask again after the next release, for an agent after the one that follows its first forecast. `detail` says when the next is due.',
  },
  'no-certificate': {
    status: 404,
    title: 'There is no certificate',
    happened: 'It is known, and it is not certified.',
    remedy:
      '`detail` says what is missing. An agent finds what the next title takes at `/agents/{agent_id}/report`.',
  },
  'release-thinned': {
    status: 404,
    title: 'The release was thinned',
    happened: 'The operator has deleted what an old release published about entities.',
    remedy: 'Ask for the current release, or for the daily snapshots, which are kept.',
  },
  'wrong-method': {
    status: 405,
    title: 'The path does not take this method',
    happened: 'The path exists, but not with this method.',
    remedy: 'Use one of the methods in the header `Allow`.',
  },
  'too-slow': {
    status: 408,
    title: 'The request took too long',
    happened: 'The request did not come to its end in time.',
    remedy: 'Send it whole, again.',
  },
  'nothing-to-withdraw': {
    status: 404,
    title: 'There is no forecast to withdraw',
    happened: 'The agent has no current forecast on the question.',
    remedy: 'Nothing has to be done: `GET /agents/{agent_id}/forecasts` lists the current forecasts.',
  },
  'question-not-open': {
    status: 409,
    title: 'The question is not open yet',
    happened: 'The question takes forecasts only from its opening on.',
    remedy: 'Submit again after the instant in `detail`.',
  },
  'question-closed': {
    status: 409,
    title: 'The question is closed',
    happened: 'The question took forecasts only before its close. It waits for its outcome.',
    remedy: 'Choose another question: `GET /questions?status=open` lists them.',
  },
  'question-resolved': {
    status: 409,
    title: 'The question is resolved',
    happened: 'The outcome of the question is known, so that it takes no more forecasts.',
    remedy: 'Choose another question: `GET /questions?status=open` lists them.',
  },
  incoherent: {
    status: 422,
    title: 'The probabilities cannot all be right',
    happened:
      'The call asked to refuse probabilities of an event that its kind rules out, and `detail` says what is wrong.',
    remedy:
      'Change them, or send them without `strict`: they are taken then, and the score punishes what is wrong.',
  },
  'agent-retired': {
    status: 409,
    title: 'The agent is retired',
    happened:
      'The agent has been retired, by itself or by the operator. It stays in every record and takes no forecasts.',
    remedy: 'Register another agent, or ask the operator, who alone can undo it.',
  },
  'renamed-often': {
    status: 409,
    title: 'Too many names wait',
    happened: 'Several names of the agent wait for the next release, which takes the last of them.',
    remedy: 'Ask for another name after the next release.',
  },
  'other-owner-proved': {
    status: 409,
    title: 'Another owner is proved',
    happened:
      'A domain is proved to answer for the agent, or was until just now, and the call claims another one.',
    remedy: 'Give up the proved one, wait for the next release, and claim the other one then.',
  },
  'request-in-progress': {
    status: 409,
    title: 'The same request is under way',
    happened: 'A request with this `Idempotency-Key` has begun and is not answered yet.',
    remedy: 'Send it again, unchanged, after the seconds in `Retry-After`.',
  },
  'key-rotated': {
    status: 409,
    title: 'The key was rotated already',
    happened: 'Another key has taken the place of this one, which works until the instant in `detail`.',
    remedy: 'Use the new key. If its answer was lost, ask the operator for another one.',
  },
  'request-expired': {
    status: 409,
    title: 'It is too late to repeat the request',
    happened: 'A request with this `Idempotency-Key` began long ago, and its answer can no longer be given.',
    remedy: 'Send a new request with a new `Idempotency-Key`.',
  },
  'too-large': {
    status: 413,
    title: 'The body is too large',
    happened: 'The body has more bytes than the service takes.',
    remedy: 'Send less at a time. `detail` names the limit.',
  },
  'wrong-content-type': {
    status: 415,
    title: 'The body has the wrong content type',
    happened: 'The service takes `application/json` without a content coding, and nothing else.',
    remedy: 'Send JSON, with the header `Content-Type: application/json`.',
  },
  'range-not-satisfiable': {
    status: 416,
    title: 'The range begins after the end',
    happened: '`Range` asks for bytes that the file does not have.',
    remedy: '`Content-Range` says how many bytes there are. A range that begins before that is answered.',
  },
  'invalid-path': {
    status: 422,
    title: 'A value in the path is not valid',
    happened: 'A part of the path is not what the call takes there.',
    remedy: '`errors` says which value and what it must be.',
  },
  'invalid-query': {
    status: 422,
    title: 'A value in the query is not valid',
    happened: 'A parameter of the query is unknown, repeated or not valid.',
    remedy: '`errors` says which value and what it must be.',
  },
  'invalid-body': {
    status: 422,
    title: 'A value in the body is not valid',
    happened: 'A field of the body is unknown, missing or not valid. Nothing was changed.',
    remedy: '`errors` says which value and what it must be.',
  },
  'invalid-idempotency-key': {
    status: 422,
    title: 'The Idempotency-Key is not valid',
    happened: 'The header `Idempotency-Key` cannot be used as it is.',
    remedy: 'Send a random UUID, a new one for each request.',
  },
  'idempotency-key-reused': {
    status: 422,
    title: 'The Idempotency-Key was used for another request',
    happened: 'An earlier request with this `Idempotency-Key` had another body.',
    remedy: 'Send that request unchanged, or this one with a new key.',
  },
  'too-many-ids': {
    status: 422,
    title: 'Too many were named in one call',
    happened: 'The call names more than the tier of the caller allows at once. None was looked at.',
    remedy: 'Divide them over several calls. `detail` names the limit.',
  },
  'headers-too-large': {
    status: 431,
    title: 'The headers are too large',
    happened: 'The path and the headers together have more bytes than the service takes.',
    remedy: 'Send fewer or shorter headers.',
  },
  failed: {
    status: 500,
    title: 'The service failed',
    happened: 'Something went wrong that should not. It was noted.',
    remedy: 'Try again. If it goes on, tell the operator the `X-Request-Id` of the answer.',
  },
  'not-supported': {
    status: 501,
    title: 'The service does not do this',
    happened: 'The request asks for something of HTTP that the service does not have.',
    remedy: 'Send it without that. `detail` says what it is.',
  },
  unavailable: {
    status: 503,
    title: 'The service cannot answer now',
    happened: 'What the service depends on does not answer, or this node is stopping or not ready.',
    remedy: 'Send the same request again after the seconds in `Retry-After`.',
  },
  'wrong-clock': {
    status: 503,
    title: 'This node takes no forecasts now',
    happened: 'The clock of the node is wrong, and times decide scores.',
    remedy: 'Send the same request again: another node may take it.',
  },
  damaged: {
    status: 503,
    title: 'Stored data is damaged',
    happened: 'What the store holds for this call is not what was stored. It was noted, and is not served.',
    remedy: 'Try again after the seconds in `Retry-After`; an operator has to restore it.',
  },
} as const satisfies Record<string, ProblemType>

export type ProblemName = keyof typeof PROBLEM_TYPES
export const PROBLEM_NAMES = Object.keys(PROBLEM_TYPES) as ProblemName[]

const PREFIX = '/problems/'

/** The `type` of a problem: an address on this service, where its page is. */
export function problemAddress(name: ProblemName): `${typeof PREFIX}${ProblemName}` {
  return `${PREFIX}${name}`
}

/** The text of the type of an exceeded quota. */
export const QUOTA_TYPE: ProblemType = {
  status: 429,
  title: 'A quota is used up',
  happened: 'Too many calls were made, or too many of them failed. `violated-policies` names the quotas.',
  remedy:
    'Send the request again after the seconds in `Retry-After`. `RateLimit` says what is left before it is used up.',
}

/** The type of an exceeded quota, registered by draft-ietf-httpapi-ratelimit-headers-10. */
export const QUOTA_EXCEEDED = 'https://iana.org/assignments/http-problem-types#quota-exceeded'
