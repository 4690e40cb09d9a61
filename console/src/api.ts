// The admin API: requests with the token, errors in the emulator's form.
import { escapeDirections } from './lib/keys.ts';
import { Store } from './lib/store.ts';
import { isHeaderText } from './lib/token.ts';

export class ApiError extends Error {
  readonly status: number; // 0: no response.
  readonly code: string;

  constructor(message: string, status: number, code: string) {
    super(message);
    this.name = 'ApiError';
    this.status = status;
    this.code = code;
  }
}

const tokenName = 'penstock-admin-token';

export interface Session {
  token: string;
  refused: boolean; // The emulator answered 401: it needs a token, or another one.
}

// What no header can have is no token, so that the emulator answers and the form shows.
function storedToken(): string {
  const token = sessionStorage.getItem(tokenName) ?? '';
  return isHeaderText(token) ? token : '';
}

export const session = new Store<Session>({ token: storedToken(), refused: false });

export function signIn(token: string): void {
  sessionStorage.setItem(tokenName, token);
  session.set({ token, refused: false });
}

export function signOut(): void {
  sessionStorage.removeItem(tokenName);
  session.set({ token: '', refused: true });
}

export type Params = Readonly<Record<string, string | number | boolean | undefined>>;

// The API is beside the page: /console/ and /_penstock/. Parameters that are undefined or '' are left out.
export function apiUrl(path: string, params: Params = {}): string {
  const url = new URL(`../_penstock/${path}`, document.baseURI);
  for (const [name, value] of Object.entries(params)) {
    if (value !== undefined && value !== '') url.searchParams.append(name, String(value));
  }
  return url.href;
}

// `journal` of a namespace: `journal/NAME`.
export function inNamespace(path: string, namespace: string): string {
  return `${path}/${encodeURIComponent(namespace)}`;
}

// The address of S3 without a signature. Keys are encoded by segment, so that a `/` stays.
export function s3Path(namespace: string, bucket = '', key = ''): string {
  const name = inNamespace('s3', namespace);
  const segments = key.split('/').map(encodeURIComponent).join('/');
  return bucket === '' ? `${name}/` : `${name}/${encodeURIComponent(bucket)}${key === '' ? '' : `/${segments}`}`;
}

export interface RequestOptions {
  method?: string;
  params?: Params;
  json?: unknown; // A body of JSON.
  body?: BodyInit; // Or another one.
  headers?: Record<string, string>;
  signal?: AbortSignal | undefined;
}

async function errorOf(response: Response): Promise<ApiError> {
  const text = await response.text().catch(() => '');
  try {
    const { error, code } = JSON.parse(text) as { error?: string; code?: string };
    if (error) return new ApiError(error, response.status, code ?? '');
  } catch {
    // Not the admin API's form: S3's, or a proxy's.
  }
  const member = (name: string) => new RegExp(`<${name}>([^<]*)</${name}>`).exec(text)?.[1] ?? '';
  const said = member('Message') || response.statusText || 'the response has no text';
  return new ApiError(`${said} (HTTP status ${response.status})`, response.status, member('Code'));
}

// Sends a request and returns its response, whose status is below 400. Throws ApiError, or AbortError after `signal`.
export async function send(path: string, options: RequestOptions = {}): Promise<Response> {
  const headers = new Headers(options.headers);
  const { token } = session.value;
  if (token) headers.set('Authorization', `Bearer ${token}`);
  let body = options.body;
  if (options.json !== undefined) {
    body = JSON.stringify(options.json);
    headers.set('Content-Type', 'application/json');
  }
  const init: RequestInit = { method: options.method ?? (body === undefined ? 'GET' : 'POST'), headers, cache: 'no-store', credentials: 'omit' };
  if (body !== undefined) init.body = body;
  if (options.signal) init.signal = options.signal;
  let response: Response;
  try {
    response = await fetch(apiUrl(path, options.params), init);
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error;
    throw new ApiError('The emulator does not respond. It may have been stopped.', 0, 'NoResponse');
  }
  if (response.ok) return response;
  const error = await errorOf(response);
  // Another tab may have signed in meanwhile: only a refusal of the current token counts.
  if (error.status === 401 && token === session.value.token) session.set({ token, refused: true });
  throw error;
}

export async function getJson<T>(path: string, params: Params = {}, signal?: AbortSignal): Promise<T> {
  return (await (await send(path, { params, signal })).json()) as T;
}

export async function sendJson<T>(method: string, path: string, json?: unknown, params: Params = {}): Promise<T> {
  return (await (await send(path, { method, json, params })).json()) as T;
}

export function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'AbortError';
}

export function messageOf(error: unknown): string {
  return escapeDirections(error instanceof Error ? error.message : String(error));
}

// Saves what a GET returns as a file. The token is a header, so a plain link could not fetch it.
export async function download(path: string, params: Params, fileName: string): Promise<void> {
  const blob = await (await send(path, { params })).blob();
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = fileName;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
