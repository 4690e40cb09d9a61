// Who read which bytes when: reads of the journal as rows of the picture. Pure.
import type { Entry } from '../lib/entry.ts';
import type { Range } from './intervals.ts';

export const groupings = ['connection', 'peer', 'access_key', 'user_agent', 'rank'] as const;
export type Grouping = (typeof groupings)[number];

export const groupingNames: Readonly<Record<Grouping, string>> = {
  connection: 'Connection',
  peer: 'Address',
  access_key: 'Access key',
  user_agent: 'User agent',
  rank: 'Rank',
};

export interface Group {
  value: string;
  requests: number;
  ranges: Range[];
  fetched_bytes: number;
  overlap_bytes: number;
  first_s: number;
  last_s: number;
}

// The answer to the question `ranges`.
export interface RangesAnswer {
  fetched: Range[];
  covered: Range[];
  fetched_bytes: number;
  covered_bytes: number;
  overlap_bytes: number;
  missing?: Range[];
  over_read_bytes?: number;
  groups: Group[];
  groups_dropped: number;
  dropped: number;
  generation: string;
}

export interface Read {
  number: number; // Of the journal's entry.
  began: number;
  range: Range;
  groups: Readonly<Record<Grouping, string>>;
}

// null: an entry that is not a successful read with bytes.
export function readOf(entry: Entry): Read | null {
  const { range, status } = entry;
  if (!range || range[0] >= range[1] || (status !== 200 && status !== 206)) return null;
  return {
    number: entry.number,
    began: entry.began_s,
    range,
    groups: {
      connection: String(entry.connection),
      peer: entry.peer.slice(0, entry.peer.lastIndexOf(':')),
      access_key: entry.access_key,
      user_agent: entry.user_agent ?? '',
      rank: String(entry.rank ?? ''),
    },
  };
}

// A run of bytes with the same reads.
export interface Segment {
  begin: number;
  end: number;
  count: number;
  last: number; // When the latest of its reads began.
}

// Sorted and disjoint. The reads are in the order of their times.
export function segmentsOf(reads: readonly Read[]): Segment[] {
  const edges = [...new Set(reads.flatMap(({ range }) => range))].sort((a, b) => a - b);
  const index = new Map(edges.map((at, i) => [at, i]));
  const counts = new Int32Array(edges.length + 1);
  for (const { range } of reads) {
    counts[index.get(range[0])!]!++;
    counts[index.get(range[1])!]!--;
  }
  const latest = latestOf(reads, index, edges.length);
  const segments: Segment[] = [];
  let count = 0;
  for (let i = 0; i + 1 < edges.length; i++) {
    count += counts[i]!;
    if (count > 0) segments.push({ begin: edges[i]!, end: edges[i + 1]!, count, last: latest[i]! });
  }
  return segments;
}

// The time of the latest read of each run: reads fill runs from the latest one on, and each run is filled once.
function latestOf(reads: readonly Read[], index: ReadonlyMap<number, number>, size: number): Float64Array {
  const latest = new Float64Array(size);
  const next = Int32Array.from({ length: size + 1 }, (_, i) => i); // The first run from i on that is not filled.
  const find = (from: number): number => {
    let root = from;
    while (next[root]! !== root) root = next[root]!;
    for (let at = from; next[at]! !== root && at !== root; ) {
      const after = next[at]!;
      next[at] = root;
      at = after;
    }
    return root;
  };
  for (let i = reads.length - 1; i >= 0; i--) {
    const { began, range } = reads[i]!;
    const end = index.get(range[1])!;
    for (let run = find(index.get(range[0])!); run < end; run = find(run)) {
      latest[run] = began;
      next[run] = run + 1;
    }
  }
  return latest;
}

export function byGroup(reads: readonly Read[], grouping: Grouping): Map<string, Read[]> {
  const groups = new Map<string, Read[]>();
  for (const read of reads) {
    const value = read.groups[grouping];
    const group = groups.get(value);
    if (group) group.push(read);
    else groups.set(value, [read]);
  }
  return groups;
}
