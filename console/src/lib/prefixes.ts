// Counts keys by prefix. Pure.

export interface PrefixCount {
  prefix: string; // '' stands for keys without a '/'.
  count: number;
  whole: boolean; // The prefix is of keys of several folders that have no rows of their own.
}

interface Node {
  prefix: string;
  count: number;
  children: Map<string, Node>;
  here: number; // Keys that have no further '/'.
}

const node = (prefix: string): Node => ({ prefix, count: 0, children: new Map(), here: 0 });

function tree(keys: Iterable<string>): Node {
  const root = node('');
  for (const key of keys) {
    let at = root;
    at.count++;
    for (let slash = key.indexOf('/'); slash >= 0; slash = key.indexOf('/', slash + 1)) {
      const prefix = key.slice(0, slash + 1);
      let next = at.children.get(prefix);
      if (!next) at.children.set(prefix, (next = node(prefix)));
      at = next;
      at.count++;
    }
    at.here++;
  }
  return root;
}

// At most `most` prefixes, the largest first: starts with all keys, and divides the largest group into its folders while they fit.
export function countPrefixes(keys: Iterable<string>, most: number): PrefixCount[] {
  const root = tree(keys);
  if (root.count === 0) return [];
  const open: Node[] = [root];
  const done: PrefixCount[] = [];
  while (open.length > 0) {
    open.sort((a, b) => b.count - a.count);
    const largest = open.shift()!;
    const parts = largest.children.size + (largest.here > 0 ? 1 : 0);
    const fits = open.length + done.length + parts <= most;
    if (largest.children.size === 0 || !fits) {
      done.push({ prefix: largest.prefix, count: largest.count, whole: largest.children.size > 0 });
      continue;
    }
    open.push(...largest.children.values());
    if (largest.here > 0) done.push({ prefix: largest.prefix, count: largest.here, whole: false });
  }
  return done.sort((a, b) => b.count - a.count || (a.prefix < b.prefix ? -1 : 1));
}
