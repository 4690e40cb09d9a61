// Uploads of files. They go on while other views are shown. A cancelled or failed upload leaves nothing: no object, no parts.
import { ApiError, apiUrl, isAbort, messageOf, session } from './api.ts';
import { partsOf, type Part } from './lib/parts.ts';
import { Slots } from './lib/slots.ts';
import { Store } from './lib/store.ts';
import { parseXml, textAt } from './lib/xml.ts';
import { abortUpload, completeUpload, createUpload, targetOf, type Address } from './s3.ts';

export interface Upload {
  id: number;
  address: Address;
  size: number;
  sent: number;
  phase: 'waiting' | 'sending' | 'done' | 'failed' | 'cancelled';
  problem: string;
}

export const uploads = new Store<readonly Upload[]>([]);

// A browser opens six connections to a host. The live events take one, and one stays for other requests.
const requestSlots = new Slots(4);
const fileSlots = new Slots(4);
const attemptsToAbort = 4;

interface Job {
  upload: Upload;
  file: File;
  controller: AbortController;
  sentByPart: Map<number, number>;
  multipart: string; // The id of a multipart upload, '' without one.
}

const jobs = new Map<number, Job>();
let last = 0;
let scheduled = false;

// Shows the changes of all jobs, at most ten times a second.
function publish(): void {
  if (scheduled) return;
  scheduled = true;
  setTimeout(() => {
    scheduled = false;
    uploads.set([...jobs.values()].map(({ upload }) => ({ ...upload })));
  }, 100);
}

export function isActive({ phase }: Upload): boolean {
  return phase === 'waiting' || phase === 'sending';
}

function refusalOf({ responseText: text, status }: XMLHttpRequest): ApiError {
  try {
    if (text.startsWith('<')) {
      const root = parseXml(text);
      return new ApiError(textAt(root, 'Message'), status, textAt(root, 'Code'));
    }
    const { error, code } = JSON.parse(text) as { error: string; code: string }; // Of the admin API.
    return new ApiError(error, status, code);
  } catch {
    return new ApiError(status === 0 ? 'The connection to the emulator ended.' : `HTTP status ${status}`, status, '');
  }
}

// PUT of a body with progress, which fetch does not report. Returns the ETag.
function put(target: string, body: Blob, headers: Record<string, string>, signal: AbortSignal, onSent: (bytes: number) => void): Promise<string> {
  return new Promise((resolve, reject) => {
    const aborted = () => new DOMException('The upload was cancelled.', 'AbortError');
    if (signal.aborted) return reject(aborted());
    const request = new XMLHttpRequest();
    request.open('PUT', apiUrl(target));
    const { token } = session.value;
    if (token) request.setRequestHeader('Authorization', `Bearer ${token}`);
    for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
    const stop = () => request.abort();
    signal.addEventListener('abort', stop);
    request.upload.onprogress = (event) => onSent(event.loaded);
    request.onabort = () => reject(aborted());
    request.onerror = () => reject(refusalOf(request));
    request.onload = () => (request.status < 300 ? resolve(request.getResponseHeader('ETag') ?? '') : reject(refusalOf(request)));
    request.onloadend = () => signal.removeEventListener('abort', stop);
    request.send(body);
  });
}

function report(job: Job, part: number, bytes: number): void {
  job.sentByPart.set(part, bytes);
  job.upload.sent = Math.min(job.upload.size, [...job.sentByPart.values()].reduce((sum, n) => sum + n, 0));
  publish();
}

function typeOf(file: File): string {
  return file.type || 'application/octet-stream';
}

// Aborts until the emulator confirms it: parts must not stay.
async function abort(job: Job): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await abortUpload(job.upload.address, job.multipart);
      job.multipart = '';
      return;
    } catch (error) {
      if (attempt === attemptsToAbort) {
        throw new Error(`Its parts could not be removed: ${messageOf(error)} Abort the upload ${job.multipart} later, under “Uploads” of the bucket.`);
      }
      await new Promise((resolve) => setTimeout(resolve, 500 * 2 ** attempt));
    }
  }
}

async function sendParts(job: Job, parts: readonly Part[]): Promise<void> {
  const { upload, file, controller } = job;
  job.multipart = await createUpload(upload.address, typeOf(file));
  const failure = new AbortController(); // Ends the other parts when one fails.
  const signal = AbortSignal.any([controller.signal, failure.signal]);
  const sent = parts.map((part) =>
    requestSlots.run(() => {
      const target = targetOf(upload.address, { partNumber: part.number, uploadId: job.multipart });
      return put(target, file.slice(part.begin, part.end), {}, signal, (bytes) => report(job, part.number, bytes));
    }),
  );
  try {
    const etags = await Promise.all(sent);
    await completeUpload(upload.address, job.multipart, etags, signal);
    job.multipart = '';
  } catch (error) {
    failure.abort();
    await Promise.allSettled(sent); // A part that arrives after the abort would stay.
    await abort(job);
    throw error;
  }
}

async function sendFile(job: Job): Promise<void> {
  const { upload, file, controller } = job;
  controller.signal.throwIfAborted();
  upload.phase = 'sending';
  publish();
  const parts = partsOf(file.size);
  if (parts.length > 0) return sendParts(job, parts);
  const headers = { 'Content-Type': typeOf(file) };
  await requestSlots.run(() => put(targetOf(upload.address), file, headers, controller.signal, (bytes) => report(job, 1, bytes)));
}

async function run(job: Job): Promise<void> {
  const { upload } = job;
  try {
    await fileSlots.run(() => sendFile(job));
    upload.phase = 'done';
    upload.sent = upload.size;
  } catch (error) {
    upload.phase = isAbort(error) ? 'cancelled' : 'failed';
    upload.problem = isAbort(error) ? '' : messageOf(error);
  }
  publish();
}

// Resolves when all have ended. The phases say how.
export async function startUploads(files: readonly { file: File; address: Address }[]): Promise<void> {
  const started = files.map(({ file, address }) => {
    const upload: Upload = { id: ++last, address, size: file.size, sent: 0, phase: 'waiting', problem: '' };
    const job: Job = { upload, file, controller: new AbortController(), sentByPart: new Map(), multipart: '' };
    jobs.set(upload.id, job);
    return job;
  });
  publish();
  await Promise.all(started.map(run));
}

export function cancelUpload(id: number): void {
  jobs.get(id)?.controller.abort();
}

export function forgetEnded(): void {
  for (const [id, { upload }] of jobs) if (!isActive(upload)) jobs.delete(id);
  publish();
}

addEventListener('beforeunload', (event) => {
  if ([...jobs.values()].some(({ upload }) => isActive(upload))) event.preventDefault();
});

// The page is closed: the browser sends these requests after its end.
addEventListener('pagehide', () => {
  const { token } = session.value;
  for (const { upload, multipart } of jobs.values()) {
    if (!multipart) continue;
    const headers: Record<string, string> = token ? { Authorization: `Bearer ${token}` } : {};
    void fetch(apiUrl(targetOf(upload.address, { uploadId: multipart })), { method: 'DELETE', headers, keepalive: true });
  }
});
