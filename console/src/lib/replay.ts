// Writes a recorded request as a line of curl or of boto3. Secrets are never part of it: curl reads the keys from environment
// variables, boto3 finds them as usual, and a new signature replaces the recorded one.
import type { Entry } from './entry.ts';
import { decodedParameter } from './keys.ts';

export interface Endpoint {
  host: string;
  port: number; // Of S3.
}

// Characters that a terminal or a page does not show, or that change how others are shown.
const invisible = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;

// `$'…'` is of bash, zsh, ksh and POSIX of 2024; it writes the bytes of UTF-8. Older shells do not have it, so only where needed.
function escapedForShell(text: string): string {
  let quoted = "$'";
  for (const character of text) {
    if (character === "'" || character === '\\') quoted += `\\${character}`;
    else if (invisible.test(character)) for (const byte of new TextEncoder().encode(character)) quoted += `\\${byte.toString(8).padStart(3, '0')}`;
    else quoted += character;
  }
  return `${quoted}'`;
}

export function shellQuoted(text: string): string {
  if (invisible.test(text)) return escapedForShell(text);
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

export function pythonQuoted(text: string): string {
  let quoted = '"';
  for (const character of text) {
    const code = character.codePointAt(0)!;
    if (character === '"' || character === '\\') quoted += `\\${character}`;
    else if (character === '\n') quoted += '\\n';
    else if (code < 0x20 || (code >= 0x7f && code < 0xa0)) quoted += `\\x${code.toString(16).padStart(2, '0')}`;
    else if (invisible.test(character)) quoted += code < 0x10000 ? `\\u${code.toString(16).padStart(4, '0')}` : `\\U${code.toString(16).padStart(8, '0')}`;
    else quoted += character;
  }
  return `${quoted}"`;
}

const isSecret = (text: string) => text.includes('***');

// Parameters of a presigned URL (both signature versions), which a new signature replaces.
const presigned = /^(x-amz-(algorithm|credential|date|expires|signedheaders|signature|security-token)|awsaccesskeyid|signature|expires)$/i;
const isPresigned = (entry: Entry) => /[?&](x-amz-signature|awsaccesskeyid)=/i.test(entry.target);

// The query of the target, as it was sent, without the parameters of a signature.
function queryOf(entry: Entry): string[] {
  const question = entry.target.indexOf('?');
  if (question < 0) return [];
  const parts = entry.target.slice(question + 1).split('&').filter((part) => part !== '');
  return isPresigned(entry) ? parts.filter((part) => !presigned.test(part.split('=')[0]!)) : parts;
}

// Encoded like S3's clients do: everything but unreserved characters and `/`.
function encodedPath(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`).replaceAll('%2F', '/');
}

// A text of a query, encoded as it is signed.
function encodedParameter(text: string): string {
  return encodedPath(decodedParameter(text)).replaceAll('/', '%2F');
}

// Sorted and with `=`, as in the text that is signed: curl before version 8.3 signs the query as it is written.
function signableQuery(entry: Entry): string {
  return queryOf(entry)
    .map((part) => {
      const [name, ...value] = part.split('=');
      return [encodedParameter(name!), encodedParameter(value.join('='))] as const;
    })
    .sort(([a, m], [b, n]) => (a === b ? (m < n ? -1 : 1) : a < b ? -1 : 1))
    .map(([name, value]) => `${name}=${value}`)
    .join('&');
}

// In path style, also if the request named the bucket by the host.
function url(entry: Entry, endpoint: Endpoint): string {
  const sent = entry.target.split('?')[0]!;
  const own = entry.bucket === '' ? sent : `/${encodedPath(entry.bucket)}${entry.key === '' ? '' : `/${encodedPath(entry.key)}`}`;
  const inPath = entry.bucket === '' || sent === `/${entry.bucket}` || sent.startsWith(`/${entry.bucket}/`);
  const query = signableQuery(entry);
  const host = endpoint.host.includes(':') && !endpoint.host.startsWith('[') ? `[${endpoint.host}]` : endpoint.host;
  return `${entry.tls ? 'https' : 'http'}://${host}:${endpoint.port}${inPath ? sent : own}${query ? `?${query}` : ''}`;
}

// Headers that the client or the signature makes anew.
const ownHeaders =
  /^(authorization|host|connection|content-length|transfer-encoding|expect|accept|accept-encoding|user-agent|te|x-amz-date|x-amz-content-sha256|x-amz-decoded-content-length|x-amz-trailer|x-amz-security-token|x-amz-user-agent|x-amz-sdk-checksum-algorithm|x-amz-checksum-.*|content-md5|amz-sdk-.*)$/i;

function headerLines(entry: Entry): string[] {
  const lines: string[] = [];
  for (const [name, value] of entry.request_headers ?? []) {
    if (ownHeaders.test(name) || isSecret(value) || (/^content-encoding$/i.test(name) && /aws-chunked/i.test(value))) continue;
    lines.push(`${name}: ${value}`);
  }
  if (!entry.request_headers && entry.range && entry.operation === 'GetObject') lines.push(`Range: ${rangeText(entry)}`);
  return lines;
}

const hasToken = (entry: Entry) => (entry.request_headers ?? []).some(([name]) => /^x-amz-security-token$/i.test(name));
const rangeText = ({ range }: Entry) => (range ? `bytes=${range[0]}-${range[1] - 1}` : '');

function regionOf(entry: Entry): string {
  const authorization = (entry.request_headers ?? []).find(([name]) => /^authorization$/i.test(name))?.[1] ?? '';
  return /Credential=[^/]+\/\d{8}\/([\w-]+)\//.exec(authorization)?.[1] ?? 'us-east-1';
}

export function curlLine(entry: Entry, endpoint: Endpoint): string {
  const words = ['curl', '--globoff', '--path-as-is'];
  if (entry.access_key !== '') {
    words.push('--aws-sigv4', shellQuoted(`aws:amz:${regionOf(entry)}:s3`), '--user', '"$AWS_ACCESS_KEY_ID:$AWS_SECRET_ACCESS_KEY"');
    words.push('--header', 'x-amz-content-sha256:UNSIGNED-PAYLOAD'); // Older versions of curl do not send the header themselves.
    if (hasToken(entry)) words.push('--header', '"x-amz-security-token: $AWS_SESSION_TOKEN"');
  }
  for (const line of headerLines(entry)) words.push('--header', shellQuoted(line));
  if (entry.method === 'HEAD') words.push('--head');
  else if (entry.method === 'PUT' && entry.bytes_in > 0) words.push('--upload-file', 'BODY');
  else if (entry.method === 'PUT' || entry.method === 'POST') {
    words.push('--request', entry.method, '--data-binary', entry.bytes_in > 0 ? '@BODY' : "''");
  } else if (entry.method !== 'GET') words.push('--request', shellQuoted(entry.method));
  words.push(shellQuoted(url(entry, endpoint)));
  return words.join(' ');
}

// Parameters of the query that boto3 takes as arguments.
const queryArguments: Readonly<Record<string, string>> = {
  versionId: 'VersionId',
  partNumber: 'PartNumber',
  uploadId: 'UploadId',
  id: 'Id',
  prefix: 'Prefix',
  delimiter: 'Delimiter',
  marker: 'Marker',
  'max-keys': 'MaxKeys',
  'continuation-token': 'ContinuationToken',
  'start-after': 'StartAfter',
  'fetch-owner': 'FetchOwner',
  'key-marker': 'KeyMarker',
  'version-id-marker': 'VersionIdMarker',
  'upload-id-marker': 'UploadIdMarker',
  'max-uploads': 'MaxUploads',
  'max-parts': 'MaxParts',
  'part-number-marker': 'PartNumberMarker',
  'max-buckets': 'MaxBuckets',
  'max-directory-buckets': 'MaxDirectoryBuckets',
  'bucket-region': 'BucketRegion',
  'response-cache-control': 'ResponseCacheControl',
  'response-content-disposition': 'ResponseContentDisposition',
  'response-content-encoding': 'ResponseContentEncoding',
  'response-content-language': 'ResponseContentLanguage',
  'response-content-type': 'ResponseContentType',
};
const integerArguments = /^(PartNumber|Max\w+|PartNumberMarker)$/;

// The argument of each operation whose value the journal does not have: a document, or what a header names.
const bodyArguments: Readonly<Record<string, string>> = {
  CompleteMultipartUpload: 'MultipartUpload',
  CopyObject: 'CopySource',
  DeleteObjects: 'Delete',
  GetObjectAttributes: 'ObjectAttributes',
  PutBucketAbac: 'AbacStatus',
  PutBucketAccelerateConfiguration: 'AccelerateConfiguration',
  PutBucketAnalyticsConfiguration: 'AnalyticsConfiguration',
  PutBucketCors: 'CORSConfiguration',
  PutBucketEncryption: 'ServerSideEncryptionConfiguration',
  PutBucketIntelligentTieringConfiguration: 'IntelligentTieringConfiguration',
  PutBucketInventoryConfiguration: 'InventoryConfiguration',
  PutBucketLifecycleConfiguration: 'LifecycleConfiguration',
  PutBucketLogging: 'BucketLoggingStatus',
  PutBucketMetricsConfiguration: 'MetricsConfiguration',
  PutBucketNotificationConfiguration: 'NotificationConfiguration',
  PutBucketOwnershipControls: 'OwnershipControls',
  PutBucketPolicy: 'Policy',
  PutBucketReplication: 'ReplicationConfiguration',
  PutBucketRequestPayment: 'RequestPaymentConfiguration',
  PutBucketTagging: 'Tagging',
  PutBucketVersioning: 'VersioningConfiguration',
  PutBucketWebsite: 'WebsiteConfiguration',
  PutObjectLegalHold: 'LegalHold',
  PutObjectLockConfiguration: 'ObjectLockConfiguration',
  PutObjectRetention: 'Retention',
  PutObjectTagging: 'Tagging',
  PutPublicAccessBlock: 'PublicAccessBlockConfiguration',
  RenameObject: 'RenameSource',
  RestoreObject: 'RestoreRequest',
  UploadPartCopy: 'CopySource',
};
// Requests that are no method of boto3's client.
const withoutMethod = new Set(['', 'Unknown', 'PostObject', 'OptionsObject', 'WriteGetObjectResponse', 'SelectObjectContent']);

// The method of boto3's client: GetObject is get_object, ListObjectsV2 is list_objects_v2 (botocore's xform_name).
export function methodName(operation: string): string {
  return operation
    .replace(/(.)([A-Z][a-z]+)/g, '$1_$2')
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .replace(/_?v2$/, '_v2');
}

function methodArguments(entry: Entry): string[] {
  const named: string[] = [];
  if (entry.bucket !== '') named.push(`Bucket=${pythonQuoted(entry.bucket)}`);
  if (entry.key !== '') named.push(`Key=${pythonQuoted(entry.key)}`);
  for (const part of queryOf(entry)) {
    const equals = part.indexOf('=');
    const name = queryArguments[decodedParameter(equals < 0 ? part : part.slice(0, equals))];
    if (!name || equals < 0) continue;
    const value = decodedParameter(part.slice(equals + 1));
    if (name === 'FetchOwner') named.push(`FetchOwner=${value.toLowerCase() === 'true' ? 'True' : 'False'}`);
    else named.push(`${name}=${integerArguments.test(name) && /^\d{1,18}$/.test(value) ? Number(value) : pythonQuoted(value)}`);
  }
  if (entry.operation === 'GetObject' && entry.range && entry.status === 206) named.push(`Range=${pythonQuoted(rangeText(entry))}`);
  if (entry.operation === 'PutObject' || entry.operation === 'UploadPart') named.push(entry.bytes_in > 0 ? 'Body=open("BODY", "rb")' : 'Body=b""');
  const open = bodyArguments[entry.operation];
  if (open) named.push(`${open}=...`);
  return named;
}

// null: boto3 has no method for the request. `...` stands for an argument that the journal does not have.
export function boto3Line(entry: Entry, endpoint: Endpoint): string | null {
  if (withoutMethod.has(entry.operation)) return null;
  const { origin } = new URL(url({ ...entry, bucket: '', key: '', target: '/' }, endpoint));
  const anonymous = entry.access_key === '' ? ', config=botocore.config.Config(signature_version=botocore.UNSIGNED)' : '';
  const client = `boto3.client("s3", endpoint_url=${pythonQuoted(origin)}, region_name=${pythonQuoted(regionOf(entry))}${anonymous})`;
  return `${client}.${methodName(entry.operation)}(${methodArguments(entry).join(', ')})`;
}
