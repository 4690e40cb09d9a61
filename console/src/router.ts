// The current route, and how to change it.
import { formatRoute, parseRoute, type Params, type Route } from './lib/route.ts';
import { Store } from './lib/store.ts';

export const route = new Store<Route>(parseRoute(location.hash));

export function startRouter(): void {
  addEventListener('hashchange', () => route.set(parseRoute(location.hash)));
}

// The address of another place of the current namespace.
export function hashOf(view: string, path: readonly string[] = [], params: Params = []): string {
  return formatRoute(view, path, params, route.value.namespace);
}

export function navigate(hash: string): void {
  location.hash = hash;
}

// Without an entry in the browser's history.
export function replaceRoute(hash: string): void {
  history.replaceState(null, '', hash);
  route.set(parseRoute(hash));
}

// Changes parameters of the current route without an entry in the browser's history. '' and undefined remove one.
export function replaceParams(changes: Readonly<Record<string, string | undefined>>): void {
  const { view, path, params } = route.value;
  const next = new Map<string, string | undefined>(params);
  for (const [name, value] of Object.entries(changes)) next.set(name, value);
  replaceRoute(hashOf(view, path, next));
}
