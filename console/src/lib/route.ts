// The page's address: `#/VIEW/REST?NAME=VALUE`. The server knows one page; the part after `#` stays in the browser.
// `namespace` is a parameter too, so that an address means the same for everyone; without it the default namespace is meant.

export const defaultNamespace = 'default';

export interface Route {
  view: string; // The first segment, or '' at the start page.
  path: readonly string[]; // The other segments, decoded.
  params: ReadonlyMap<string, string>; // Without the namespace.
  namespace: string;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // A lone '%' that a person typed.
  }
}

export function parseRoute(hash: string): Route {
  const text = hash.replace(/^#\/?/, '');
  const question = text.indexOf('?');
  const segments = (question < 0 ? text : text.slice(0, question)).split('/').map(decode);
  const params = new Map(question < 0 ? [] : new URLSearchParams(text.slice(question + 1)));
  const namespace = params.get('namespace') || defaultNamespace;
  params.delete('namespace');
  return { view: segments[0] ?? '', path: segments.slice(1).filter((part, i, all) => part !== '' || i < all.length - 1), params, namespace };
}

export type Params = Iterable<readonly [string, string | undefined]>;

// Parameters with an empty or undefined value are left out.
export function formatRoute(view: string, path: readonly string[], params: Params, namespace: string): string {
  const query = new URLSearchParams();
  if (namespace !== defaultNamespace) query.set('namespace', namespace);
  for (const [name, value] of params) if (value) query.set(name, value);
  const text = query.toString();
  return `#/${[view, ...path].map(encodeURIComponent).join('/')}${text ? `?${text}` : ''}`;
}
