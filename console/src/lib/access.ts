// Accounts, their users and keys, and explanations of decisions. Pure.
import type { Json, JsonObject } from './schema.ts';

export interface AccessKey {
  access_key_id: string;
  active: boolean;
  namespace: string;
  expires?: string;
}

export interface NamedPolicy {
  name: string;
  path?: string;
  document: Json;
}

export interface Holder {
  name: string;
  path?: string;
  groups?: readonly string[];
  inline_policies?: readonly NamedPolicy[];
  attached_policies?: readonly string[];
  permissions_boundary?: string;
  tags?: Readonly<Record<string, string>>;
  trust_policy?: Json;
  max_session_duration?: number;
}

export interface User extends Holder {
  access_keys: readonly AccessKey[];
}

export interface Account {
  account_id: string;
  canonical_id: string;
  display_name: string;
  access_keys: readonly AccessKey[];
  users: readonly User[];
  groups?: readonly Holder[];
  roles?: readonly Holder[];
  managed_policies?: readonly NamedPolicy[];
}

export interface KeyRow extends AccessKey {
  account: Account;
  holder: string; // 'root' or the user's name.
}

export type KeyState = 'active' | 'disabled' | 'expired';

export function keysOf(accounts: readonly Account[]): KeyRow[] {
  return accounts.flatMap((account) => [
    ...account.access_keys.map((key) => ({ ...key, account, holder: 'root' })),
    ...account.users.flatMap((user) => user.access_keys.map((key) => ({ ...key, account, holder: user.name }))),
  ]);
}

// `now`: of the clock of the key's namespace, as far as it is known.
export function keyState(key: AccessKey, now: string): KeyState {
  if (!key.active) return 'disabled';
  return key.expires && now && Date.parse(key.expires) <= Date.parse(now) ? 'expired' : 'active';
}

export interface EntityRow {
  kind: 'user' | 'group' | 'role' | 'policy';
  account: Account;
  arn: string;
  holder: Holder;
  document?: Json; // Of a managed policy.
}

export function arnOf(account: Account, kind: EntityRow['kind'], holder: { name: string; path?: string }): string {
  return `arn:aws:iam::${account.account_id}:${kind}${holder.path ?? '/'}${holder.name}`;
}

export function entitiesOf(accounts: readonly Account[]): EntityRow[] {
  return accounts.flatMap((account) => {
    const row = (kind: EntityRow['kind']) => (holder: Holder) => ({ kind, account, holder, arn: arnOf(account, kind, holder) });
    return [
      ...account.users.map(row('user')),
      ...(account.groups ?? []).map(row('group')),
      ...(account.roles ?? []).map(row('role')),
      ...(account.managed_policies ?? []).map((policy) => ({ ...row('policy')(policy), document: policy.document })),
    ];
  });
}

// Names for the field of a requester: keys, and ARNs of roots, users and roles.
export function principalsOf(accounts: readonly Account[]): string[] {
  const entities = entitiesOf(accounts).filter((row) => row.kind === 'user' || row.kind === 'role');
  return [...keysOf(accounts).map((key) => key.access_key_id), ...accounts.map((account) => `arn:aws:iam::${account.account_id}:root`), ...entities.map((row) => row.arn)];
}

// The body of POST /_penstock/users that gives `account`, or one of its users, another key. The emulator replaces a user as a whole,
// so the document repeats what the user has.
export function withKey(account: Account, user: string, key: { access_key_id: string; secret_access_key: string; namespace: string }): object {
  const head = { account_id: account.account_id, canonical_id: account.canonical_id, display_name: account.display_name };
  if (user === '') return { accounts: [{ ...head, access_keys: [key] }] };
  const found = account.users.find((one) => one.name === user);
  const { access_keys: _keys, ...rest } = found ?? { name: user, access_keys: [] };
  return { accounts: [{ ...head, users: [{ ...rest, access_keys: [key] }] }] };
}

// Who sent a request of the journal, as far as the emulator knows. An entry has an access key only after its signature was accepted.
export function requesterText(request: { access_key?: string; signature?: { verdict: string }; faults?: string }): string {
  if (request.access_key) return request.access_key;
  if (request.signature) return request.signature.verdict === 'invalid' ? 'signature not valid' : 'signature not checked';
  // A rule may answer before the signature is read, so that the entry has none.
  return request.faults ? 'not known' : 'unsigned';
}

export interface Decision {
  action: string;
  resource: string;
  allowed: boolean;
  decided_by: string;
  reason?: string;
  effect?: 'Allow' | 'Deny';
  policy?: string;
  statement?: number;
  sid?: string;
}

export interface Explanation {
  request_id?: string;
  operation?: string;
  access_key?: string;
  status?: number;
  policies_consulted?: boolean;
  decisions: readonly Decision[];
}

const sources: Readonly<Record<string, string>> = {
  'account-root': 'the root of the account',
  'identity-policy': 'identity policies',
  'resource-policy': 'the bucket policy',
  acl: 'the access control list',
  initiator: 'the requester created the upload',
  'permissions-boundary': 'the permissions boundary',
  'session-policy': 'the session policy',
  none: 'no policy',
};

const sourceText = (decision: Decision) => sources[decision.decided_by] ?? decision.decided_by;

// 'Statement 0 (NoSecrets) of user/bob/deny-secrets denies it.'
export function decisionText(decision: Decision): string {
  if (decision.statement !== undefined) {
    const name = `Statement ${decision.statement}${decision.sid ? ` (${decision.sid})` : ''} of ${decision.policy ?? sourceText(decision)}`;
    return `${name} ${decision.effect === 'Deny' ? 'denies' : 'allows'} it.`;
  }
  if (decision.allowed) return `Allowed by: ${sourceText(decision)}.`;
  const reason = decision.reason ?? '';
  return reason ? `${reason[0]!.toUpperCase()}${reason.slice(1)}.` : `Denied: ${sourceText(decision)}.`;
}

// The document that `policy` of a decision names, of the users listing. Undefined for the policies of buckets and AWS's own.
export function documentOf(policy: string, accounts: readonly Account[], accountId: string): Json | undefined {
  const managed = accounts.flatMap((account) => (account.managed_policies ?? []).map((one) => ({ arn: arnOf(account, 'policy', one), document: one.document })));
  const found = managed.find((one) => one.arn === policy);
  if (found) return found.document;
  const match = /^(user|group|role)\/([^/]+)\/(.+)$/.exec(policy);
  if (!match) return undefined;
  const [, kind, holder, name] = match;
  // Accounts may have users of the same name: that of the requester comes first.
  const ordered = [...accounts].sort((a, b) => Number(b.account_id === accountId) - Number(a.account_id === accountId));
  for (const account of ordered) {
    const holders = kind === 'user' ? account.users : kind === 'group' ? account.groups : account.roles;
    const policies = (holders as readonly Holder[] | undefined)?.find((one) => one.name === holder)?.inline_policies;
    const document = policies?.find((one) => one.name === name)?.document;
    if (document !== undefined) return document;
  }
  return undefined;
}

// `Statement` may be one statement or a list.
export function statementOf(document: Json | undefined, index: number): Json | undefined {
  if (typeof document !== 'object' || document === null || Array.isArray(document)) return undefined;
  const statements = (document as JsonObject)['Statement'];
  return Array.isArray(statements) ? (statements as readonly Json[])[index] : index === 0 ? statements : undefined;
}

// The account of a requester: a key's, or that of an ARN.
export function accountOf(principal: string, accounts: readonly Account[]): string {
  return keysOf(accounts).find((key) => key.access_key_id === principal)?.account.account_id ?? /^arn:aws:[a-z]+::(\d{12}):/.exec(principal)?.[1] ?? '';
}

export interface Question {
  principal: string;
  action: string;
  resource: string;
  conditions: readonly { key: string; value: string }[];
}

// The query of /_penstock/explain. A condition key may occur several times.
export function questionQuery(question: Question): string {
  const query = new URLSearchParams();
  if (question.principal) query.set('principal', question.principal);
  query.set('action', question.action);
  query.set('resource', question.resource);
  for (const { key, value } of question.conditions) if (key) query.append(key, value);
  return query.toString();
}

const refusals: Readonly<Record<string, string>> = {
  InvalidAccessKeyId: 'The access key does not exist, or it is disabled.',
  SignatureDoesNotMatch: 'The signature is wrong: the secret key differs, or a proxy changed the request.',
  RequestTimeTooSkewed: "The time of the signature differs by more than 15 minutes from the namespace's clock.",
  ExpiredToken: "The temporary key has expired, by the namespace's clock.",
  InvalidToken: 'The session token does not belong to the access key.',
  InvalidObjectState: 'The object is archived. Restore it first.',
};

// Why a request without decisions was refused.
export function refusalText(code: string | undefined): string {
  if (code && refusals[code]) return refusals[code];
  return code && code !== 'AccessDenied' ? `The request was refused with ${code} before policies were consulted.` : 'No policy was consulted for this request.';
}

export const actions: readonly string[] = [
  ...['s3:GetObject', 's3:PutObject', 's3:DeleteObject', 's3:ListBucket', 's3:ListAllMyBuckets', 's3:CreateBucket', 's3:DeleteBucket'],
  ...['s3:GetObjectVersion', 's3:DeleteObjectVersion', 's3:ListBucketVersions', 's3:GetObjectTagging', 's3:PutObjectTagging', 's3:GetObjectAttributes'],
  ...['s3:AbortMultipartUpload', 's3:ListMultipartUploadParts', 's3:ListBucketMultipartUploads', 's3:GetBucketPolicy', 's3:PutBucketPolicy'],
  ...['s3:GetLifecycleConfiguration', 's3:PutLifecycleConfiguration', 's3:BypassGovernanceRetention'],
];

export const conditionKeys: readonly string[] = ['aws:SourceIp', 's3:prefix', 's3:delimiter', 's3:x-amz-acl', 's3:VersionId', 'aws:SecureTransport', 'aws:CurrentTime'];
