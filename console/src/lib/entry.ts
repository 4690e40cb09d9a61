// An entry of the journal, as the admin API returns it.

export type Header = readonly [name: string, value: string];

export interface Decision {
  action: string;
  resource: string;
  allowed: boolean;
  decided_by?: string;
  [member: string]: unknown;
}

export interface Entry {
  number: number;
  received: string;
  began_s: number;
  lasted_s: number;
  connection: number;
  requests_before: number;
  tls: boolean;
  peer: string;
  method: string;
  target: string;
  operation: string;
  bucket: string;
  key: string;
  status: number;
  ending: 'answered' | 'broken';
  bytes_in: number;
  bytes_out: number;
  access_key: string;
  request_id: string;
  attempt: number;
  range?: readonly [number, number];
  rank?: number;
  invocation?: string;
  user_agent?: string;
  error_code?: string;
  faults?: string; // Ids of the rules, separated by commas.
  checksums?: string;
  payload?: string;
  decisions?: readonly Decision[];
  signature?: { version: string; verdict: 'valid' | 'invalid' | 'unverified' };
  request_headers?: readonly Header[];
  response_headers?: readonly Header[];
}

export interface Verdict {
  text: string;
  tone: 'ok' | 'error' | 'neutral';
}

const signatureErrors = new Set([
  'SignatureDoesNotMatch',
  'InvalidAccessKeyId',
  'InvalidToken',
  'ExpiredToken',
  'RequestTimeTooSkewed',
  'RequestExpired',
  'AuthorizationHeaderMalformed',
  'AuthorizationQueryParametersError',
  'XAmzContentSHA256Mismatch',
  'MissingSecurityHeader',
]);

// What is known about the signature: what the journal recorded, otherwise what follows from the error code.
export function signatureVerdict(entry: Entry): Verdict {
  const { signature } = entry;
  if (signature && signature.version !== 'anonymous') {
    const tone = { valid: 'ok', invalid: 'error', unverified: 'neutral' } as const;
    return { text: `${signature.verdict} (${signature.version})`, tone: tone[signature.verdict] };
  }
  if (entry.error_code && signatureErrors.has(entry.error_code)) return { text: `refused: ${entry.error_code}`, tone: 'error' };
  if (signature || !entry.access_key) return { text: 'none: anonymous request', tone: 'neutral' };
  return entry.status > 0 && entry.status < 400 ? { text: 'accepted', tone: 'ok' } : { text: 'not known', tone: 'neutral' };
}

// Known parameters that select entries. The names are those of the admin API and of the page's address.
export const filterNames = [
  'operations',
  'status',
  'bucket',
  'key_prefix',
  'key',
  'method',
  'access_key',
  'connection',
  'rank',
  'invocation',
  'retried',
  'fault',
] as const;
export type FilterName = (typeof filterNames)[number];
export type Filter = Readonly<Partial<Record<FilterName, string>>>;

export function filterOf(params: ReadonlyMap<string, string>): Filter {
  const filter: Partial<Record<FilterName, string>> = {};
  for (const name of filterNames) {
    const value = params.get(name);
    if (value) filter[name] = value;
  }
  return filter;
}
