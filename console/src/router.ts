// The current route, and how to change it.
import { formatRoute, parseRoute, type Route } from './lib/route.ts';
import { Store } from './lib/store.ts';

export const route = new Store<Route>(parseRoute(location.hash));

export function startRouter(): void {
  addEventListener('hashchange', () => route.set(parseRoute(location.hash)));
}

export function navigate(hash: string): void {
  location.hash = hash;
}

// Changes parameters of the current route without an entry in the browser's history. '' and undefined remove one.
export function replaceParams(changes: Readonly<Record<string, string | undefined>>): void {
  const { view, path, params } = route.value;
  const next = new Map<string, string | undefined>(params);
  for (const [name, value] of Object.entries(changes)) next.set(name, value);
  const hash = formatRoute(view, path, next);
  history.replaceState(null, '', hash);
  route.set(parseRoute(hash));
}
