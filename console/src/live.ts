// The live events of one namespace: one stream for the whole page, with reconnection.
import { ApiError, inNamespace, isAbort, messageOf, send, session } from './api.ts';
import { notify } from './components/toast.tsx';
import { EventParser, reconnectDelay } from './lib/events.ts';
import { append, type LiveEvent } from './lib/history.ts';
import { defaultNamespace, formatRoute } from './lib/route.ts';
import { Store } from './lib/store.ts';
import { navigate, replaceRoute, route } from './router.ts';

export interface LiveState {
  phase: 'connecting' | 'open' | 'waiting' | 'paused';
  problem: string; // Why the page waits for the next attempt.
  retryAt: number; // Milliseconds since the epoch, in phase `waiting`.
  latest: LiveEvent | null;
  events: readonly LiveEvent[]; // Of the last five minutes.
}

export const historySeconds = 300;
const intervalMs = 1_000;
// A browser opens six connections to a host, for all of its tabs. A hidden page gives its stream back after this time.
const hiddenMs = 20_000;

const idle: LiveState = { phase: 'connecting', problem: '', retryAt: 0, latest: null, events: [] };
export const live = new Store<LiveState>(idle);
export const namespace = new Store<string>(route.value.namespace); // That of the address.
route.subscribe((next) => namespace.set(next.namespace));

// The start of the current view: what the rest of the address names belongs to the other namespace.
export function selectNamespace(name: string): void {
  navigate(formatRoute(route.value.view, [], [], name));
}

function leaveMissingNamespace(): void {
  notify('error', `There is no namespace “${namespace.value}”. This is the default namespace.`);
  replaceRoute(formatRoute(route.value.view, [], [], defaultNamespace));
}

function update(change: Partial<LiveState>): void {
  live.set({ ...live.value, ...change });
}

function receive(event: LiveEvent): void {
  update({ phase: 'open', problem: '', latest: event, events: append(live.value.events, event, historySeconds) });
}

// Reads one stream until it ends.
async function readStream(signal: AbortSignal, onEvent: (event: LiveEvent) => void): Promise<void> {
  const path = inNamespace('live', namespace.value);
  const response = await send(path, { params: { interval_ms: intervalMs }, signal });
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  const parser = new EventParser();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    for (const data of parser.push(value)) onEvent(JSON.parse(data) as LiveEvent);
  }
}

// Resolves after `ms`, or at once when `signal` aborts.
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}

async function follow(signal: AbortSignal): Promise<void> {
  let failures = 0;
  while (!signal.aborted) {
    update({ phase: 'connecting' });
    let problem = 'The emulator ended the connection.';
    try {
      await readStream(signal, (event) => {
        failures = 0;
        receive(event);
      });
    } catch (error) {
      if (isAbort(error) || signal.aborted) return;
      if (error instanceof ApiError && error.status === 401) return; // The sign-in form starts again.
      if (error instanceof ApiError && error.status === 404 && namespace.value !== defaultNamespace) {
        leaveMissingNamespace(); // It was deleted, or the address is an old one.
        return;
      }
      problem = error instanceof ApiError ? messageOf(error) : problem;
    }
    const delay = 1_000 * reconnectDelay(++failures, Math.random());
    update({ phase: 'waiting', problem, retryAt: Date.now() + delay });
    await pause(delay, signal);
  }
}

let current: AbortController | null = null;

function start(): void {
  current?.abort();
  current = new AbortController();
  void follow(current.signal);
}

export function reconnect(): void {
  if (live.value.phase !== 'open') start();
}

function stop(): void {
  current?.abort();
  current = null;
  update({ phase: 'paused' });
}

// Follows the events until the page is closed. Called once.
export function startLive(): void {
  let hidden: ReturnType<typeof setTimeout> | undefined;
  document.addEventListener('visibilitychange', () => {
    clearTimeout(hidden);
    if (document.hidden) hidden = setTimeout(stop, hiddenMs);
    else if (!current) start();
  });
  namespace.subscribe(() => {
    live.set({ ...idle });
    start();
  });
  session.subscribe(({ refused }) => {
    if (!refused) start();
    else stop();
  });
  start();
}
