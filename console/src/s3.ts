// S3 of one namespace through the admin port, without a signature.
import { ApiError, s3Path, send, sendJson, inNamespace, type RequestOptions } from './api.ts';
import { crc32Header } from './lib/crc32.ts';
import { decodeListed, hasDotSegment, queryText } from './lib/keys.ts';
import type { ListOptions, Page, Query, Row } from './lib/listing.ts';
import { unpackRows, type Packed } from './lib/packed.ts';
import { childrenNamed, fitsXml, membersOf, parseXml, textAt, xmlEscape } from './lib/xml.ts';
import type { Answer, Question } from './listing_worker.ts';

export type { ListOptions, Page, Query, Row };

// The path and query of a request. A key that the path of a URL cannot have is sent as a parameter.
export function s3Target(namespace: string, bucket: string, key = '', query: Query = {}): string {
  const byParameter = hasDotSegment(key);
  const parameters = Object.entries(query);
  if (byParameter) parameters.push(['penstock-key', key]);
  return s3Path(namespace, bucket, byParameter ? '' : key) + queryText(parameters);
}

export interface Address {
  namespace: string;
  bucket: string;
  key: string;
  version?: string | undefined;
}

export function targetOf(address: Address, query: Query = {}): string {
  return s3Target(address.namespace, address.bucket, address.key, { ...query, versionId: address.version });
}

async function xmlOf(response: Response): Promise<Element> {
  return parseXml(await response.text());
}

// ---- buckets

export interface Bucket {
  name: string;
  created: string;
  region: string;
}

export async function listBuckets(namespace: string): Promise<Bucket[]> {
  const buckets: Bucket[] = [];
  let token: string | undefined;
  do {
    const root = await xmlOf(await send(s3Target(namespace, '', '', { 'max-buckets': 10_000, 'continuation-token': token })));
    const list = childrenNamed(root, 'Buckets')[0];
    for (const one of list ? childrenNamed(list, 'Bucket') : []) {
      const members = membersOf(one);
      buckets.push({ name: members.get('Name') ?? '', created: members.get('CreationDate') ?? '', region: members.get('BucketRegion') ?? '' });
    }
    token = textAt(root, 'ContinuationToken') || undefined;
  } while (token);
  return buckets;
}

export interface NewBucket {
  name: string;
  versioned: boolean;
  objectLock: boolean;
}

export async function createBucket(namespace: string, bucket: NewBucket): Promise<void> {
  const headers: Record<string, string> = bucket.objectLock ? { 'x-amz-bucket-object-lock-enabled': 'true' } : {};
  await send(s3Target(namespace, bucket.name), { method: 'PUT', headers });
  if (bucket.versioned && !bucket.objectLock) {
    const document = '<VersioningConfiguration xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Status>Enabled</Status></VersioningConfiguration>';
    await putDocument(namespace, bucket.name, 'versioning', document);
  }
}

export async function deleteBucket(namespace: string, bucket: string): Promise<void> {
  await send(s3Target(namespace, bucket), { method: 'DELETE' });
}

// ---- configuration documents

// null: there is none.
export async function getDocument(namespace: string, bucket: string, name: string): Promise<string | null> {
  try {
    return await (await send(s3Target(namespace, bucket, '', { [name]: '' }))).text();
  } catch (error) {
    if (error instanceof ApiError && error.status === 404 && error.code !== 'NoSuchBucket') return null;
    throw error;
  }
}

export async function putDocument(namespace: string, bucket: string, name: string, document: string): Promise<void> {
  const body = new TextEncoder().encode(document);
  const headers = { 'x-amz-checksum-crc32': crc32Header(body) };
  await send(s3Target(namespace, bucket, '', { [name]: '' }), { method: 'PUT', body, headers });
}

export async function deleteDocument(namespace: string, bucket: string, name: string): Promise<void> {
  await send(s3Target(namespace, bucket, '', { [name]: '' }), { method: 'DELETE' });
}

// ---- listings

const questions = new Map<number, { resolve: (answer: Answer) => void; reject: (error: Error) => void }>();
let asked = 0;
let worker: Worker | null = null;

function listingWorker(): Worker {
  if (worker) return worker;
  const started = new Worker(new URL('./listing_worker.ts', import.meta.url), { type: 'module' });
  started.onmessage = ({ data }: MessageEvent<Answer>) => {
    questions.get(data.id)?.resolve(data);
    questions.delete(data.id);
  };
  // Its script could not be loaded, for example from an emulator that was stopped. The next question starts another one.
  started.onerror = () => {
    worker = null;
    started.terminate();
    for (const { reject } of questions.values()) reject(new Error('The script that reads listings could not be loaded. Reload the page.'));
    questions.clear();
  };
  return (worker = started);
}

function ask(xml: ArrayBuffer, options: ListOptions): Promise<Answer> {
  const id = ++asked;
  return new Promise((resolve, reject) => {
    questions.set(id, { resolve, reject });
    const question: Question = { id, xml, options };
    listingWorker().postMessage(question, [xml]);
  });
}

export interface PackedPage {
  page: Packed;
  next: Query | null; // Parameters of the next page.
}

// At most 1,000 rows. A worker reads the document, so that the page does not stall.
export async function listPacked(namespace: string, bucket: string, options: ListOptions, from: Query, signal?: AbortSignal): Promise<PackedPage> {
  const query = {
    ...(options.versions ? { versions: '' } : { 'list-type': 2 }),
    'encoding-type': 'url',
    'max-keys': 1_000,
    prefix: options.prefix || undefined,
    delimiter: options.delimiter || undefined,
    ...from,
  };
  const response = await send(s3Target(namespace, bucket, '', query), { signal });
  const answer = await ask(await response.arrayBuffer(), options);
  signal?.throwIfAborted();
  if ('problem' in answer) throw new Error(answer.problem);
  return answer;
}

export async function listPage(namespace: string, bucket: string, options: ListOptions, from: Query, signal?: AbortSignal): Promise<Page> {
  const { page, next } = await listPacked(namespace, bucket, options, from, signal);
  return { rows: unpackRows(page), next };
}

export async function* allRows(namespace: string, bucket: string, options: ListOptions, signal?: AbortSignal): AsyncGenerator<Row[]> {
  let from: Query | null = {};
  while (from) {
    const page: Page = await listPage(namespace, bucket, options, from, signal);
    yield page.rows;
    from = page.next;
  }
}

// ---- deletion

export interface Doomed {
  key: string;
  version?: string | undefined;
}

export interface Refusal {
  key: string;
  message: string;
}

async function deleteOne(namespace: string, bucket: string, { key, version }: Doomed): Promise<Refusal[]> {
  try {
    await send(s3Target(namespace, bucket, key, { versionId: version }), { method: 'DELETE' });
    return [];
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return [{ key, message: error.message }];
  }
}

async function deleteBatch(namespace: string, bucket: string, batch: readonly Doomed[]): Promise<Refusal[]> {
  if (batch.length === 0) return [];
  const objects = batch.map(({ key, version }) => {
    const id = version === undefined ? '' : `<VersionId>${xmlEscape(version)}</VersionId>`;
    return `<Object><Key>${xmlEscape(key)}</Key>${id}</Object>`;
  });
  const body = new TextEncoder().encode(`<Delete xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Quiet>true</Quiet>${objects.join('')}</Delete>`);
  const headers = { 'x-amz-checksum-crc32': crc32Header(body) };
  const root = await xmlOf(await send(s3Target(namespace, bucket, '', { delete: '' }), { method: 'POST', body, headers }));
  return childrenNamed(root, 'Error').map((error) => ({ key: textAt(error, 'Key'), message: textAt(error, 'Message') || textAt(error, 'Code') }));
}

// At most 1,000 objects. XML 1.0 has no characters for some keys; those are deleted one by one.
export async function deleteObjects(namespace: string, bucket: string, doomed: readonly Doomed[]): Promise<Refusal[]> {
  const refusals = await deleteBatch(namespace, bucket, doomed.filter(({ key }) => fitsXml(key)));
  for (const one of doomed) if (!fitsXml(one.key)) refusals.push(...(await deleteOne(namespace, bucket, one)));
  return refusals;
}

// ---- objects

export interface ObjectHead {
  size: number;
  etag: string;
  headers: [string, string][]; // In alphabetical order.
}

export async function headObject(address: Address, signal?: AbortSignal): Promise<ObjectHead> {
  const options: RequestOptions = { method: 'HEAD', headers: { 'x-amz-checksum-mode': 'ENABLED' }, signal };
  const response = await send(targetOf(address), options);
  const headers = [...response.headers];
  return { size: Number(response.headers.get('content-length') ?? 0), etag: response.headers.get('etag') ?? '', headers };
}

// Bytes [begin, end), fewer at the end of the object. Fails if the object is not the one with `etag`.
export async function readRange(address: Address, begin: number, end: number, etag = '', signal?: AbortSignal): Promise<Uint8Array<ArrayBuffer>> {
  if (end <= begin) return new Uint8Array();
  const headers: Record<string, string> = { Range: `bytes=${begin}-${end - 1}` };
  if (etag) headers['If-Match'] = etag;
  return new Uint8Array(await (await send(targetOf(address), { headers, signal })).arrayBuffer());
}

// Pairs of name and value.
export async function getTags(address: Address): Promise<[string, string][]> {
  const root = await xmlOf(await send(targetOf(address, { tagging: '' })));
  const set = childrenNamed(root, 'TagSet')[0];
  return set ? childrenNamed(set, 'Tag').map((tag) => [textAt(tag, 'Key'), textAt(tag, 'Value')]) : [];
}

export interface Presigned {
  url: string;
  expires: string;
}

export function presign(address: Address, method: string, expiresS: number): Promise<Presigned> {
  const { namespace, bucket, key, version } = address;
  const json = { bucket, key, method, expires_s: expiresS, ...(version === undefined ? {} : { version_id: version }) };
  return sendJson<Presigned>('POST', inNamespace('presign', namespace), json);
}

// ---- multipart uploads

export interface OpenUpload {
  key: string;
  id: string;
  initiated: string;
}

export async function listUploads(namespace: string, bucket: string): Promise<OpenUpload[]> {
  const root = await xmlOf(await send(s3Target(namespace, bucket, '', { uploads: '', 'encoding-type': 'url' })));
  return childrenNamed(root, 'Upload').map((one) => ({ key: decodeListed(textAt(one, 'Key')), id: textAt(one, 'UploadId'), initiated: textAt(one, 'Initiated') }));
}

export async function createUpload(address: Address, type: string): Promise<string> {
  const root = await xmlOf(await send(targetOf(address, { uploads: '' }), { method: 'POST', headers: { 'Content-Type': type } }));
  return textAt(root, 'UploadId');
}

export async function completeUpload(address: Address, id: string, etags: readonly string[], signal?: AbortSignal): Promise<void> {
  const parts = etags.map((etag, i) => `<Part><PartNumber>${i + 1}</PartNumber><ETag>${xmlEscape(etag)}</ETag></Part>`);
  const body = `<CompleteMultipartUpload xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${parts.join('')}</CompleteMultipartUpload>`;
  const root = await xmlOf(await send(targetOf(address, { uploadId: id }), { method: 'POST', body, headers: { 'Content-Type': 'application/xml' }, signal }));
  // S3 may send an error with the status 200.
  if (root.localName === 'Error') throw new ApiError(textAt(root, 'Message'), 200, textAt(root, 'Code'));
}

export async function abortUpload(address: Address, id: string): Promise<void> {
  try {
    await send(targetOf(address, { uploadId: id }), { method: 'DELETE' });
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 'NoSuchUpload') throw error;
  }
}
