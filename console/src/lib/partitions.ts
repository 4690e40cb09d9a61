// The partitions of a bucket over time, from reports of /_penstock/limits. Pure.

export interface Traffic {
  tokens: number;
  admitted: number;
  refused: number;
  last_second: number;
}

export interface Partition {
  id: number;
  begin: string; // The first key; '' for the first partition.
  end: string; // '' for the last partition.
  reads: Traffic;
  writes: Traffic;
}

export interface PartitionEvent {
  at: string;
  kind: 'split' | 'merge';
  boundary: string;
  whole: number;
  left: number;
  right: number;
}

export interface PartitionLimits {
  reads_per_second: number;
  writes_per_second: number;
  burst_ms: number;
  split_after_s: number;
  merge_after_s: number;
  max_partitions: number;
}

export interface BucketReport {
  name: string;
  limits: PartitionLimits;
  admitted: number;
  refused: number;
  partitions: readonly Partition[];
  events: readonly PartitionEvent[];
}

export interface LimitsReport {
  namespace: string;
  limits: Readonly<Record<string, unknown>>;
  admitted: number;
  refused: number;
  buckets: readonly BucketReport[];
}

export interface Cell {
  id: number;
  begin: string;
  end: string;
  rate: number; // Requests per second since the previous column.
  refused: number; // The share of them with 503.
}

// What one report adds to the map: the requests since the report before.
export interface HeatColumn {
  from: number; // Seconds of the machine's clock.
  to: number;
  cells: readonly Cell[]; // In key order.
  events: readonly PartitionEvent[];
}

interface Totals {
  admitted: number;
  refused: number;
}

const totals = (partition: Partition): Totals => ({
  admitted: partition.reads.admitted + partition.writes.admitted,
  refused: partition.reads.refused + partition.writes.refused,
});

const sameEvent = (a: PartitionEvent, b: PartitionEvent) =>
  a.at === b.at && a.kind === b.kind && a.whole === b.whole && a.left === b.left && a.right === b.right;

// The events of `next` after the last one of `previous`. The emulator keeps the latest ones only.
export function newEvents(previous: readonly PartitionEvent[], next: readonly PartitionEvent[]): readonly PartitionEvent[] {
  const last = previous.at(-1);
  if (!last) return next;
  for (let i = next.length - 1; i >= 0; i--) if (sameEvent(next[i]!, last)) return next.slice(i + 1);
  return next;
}

// Whether `next` has the counts of `previous` and later ones. Otherwise the limits were set again, or the namespace was reset.
export function continues(previous: BucketReport, next: BucketReport): boolean {
  return next.name === previous.name && next.admitted >= previous.admitted && next.refused >= previous.refused;
}

// A partition that did not exist before, after a split or a merge, has counted since it exists.
export function columnOf(previous: BucketReport, next: BucketReport, from: number, to: number): HeatColumn {
  const before = new Map(previous.partitions.map((partition) => [partition.id, totals(partition)]));
  const seconds = Math.max(to - from, 0.001);
  const cells = next.partitions.map((partition): Cell => {
    const now = totals(partition);
    const then = before.get(partition.id) ?? { admitted: 0, refused: 0 };
    const admitted = Math.max(0, now.admitted - then.admitted);
    const refused = Math.max(0, now.refused - then.refused);
    const requests = admitted + refused;
    return { id: partition.id, begin: partition.begin, end: partition.end, rate: requests / seconds, refused: requests > 0 ? refused / requests : 0 };
  });
  return { from, to, cells, events: newEvents(previous.events, next.events) };
}

// Columns of the last `seconds` with at most `most` cells in all, the newest at the end.
export function appendColumn(columns: readonly HeatColumn[], next: HeatColumn, seconds: number, most: number): HeatColumn[] {
  const all = [...columns, next];
  let first = all.length - 1;
  let cells = next.cells.length;
  while (first > 0 && all[first - 1]!.to > next.to - seconds && cells + all[first - 1]!.cells.length <= most) {
    first--;
    cells += all[first]!.cells.length;
  }
  return all.slice(first);
}

// The order of S3: that of the keys' bytes in UTF-8, which is that of code points.
export function compareKeys(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const x = a.charCodeAt(i);
    const y = b.charCodeAt(i);
    if (x === y) continue;
    // Surrogates stand for code points above all others of UTF-16.
    const surrogate = (unit: number) => unit >= 0xd800 && unit <= 0xdfff;
    if (surrogate(x) !== surrogate(y)) return surrogate(x) ? 1 : -1;
    return x - y;
  }
  return a.length - b.length;
}

// Every boundary of the shown time in key order, '' first: the rows of the map. A partition covers the rows from its `begin` up to
// its `end`, so that the halves of a split lie within the place of the whole.
export function rowsOf(columns: readonly HeatColumn[]): string[] {
  const boundaries = new Set<string>(['']);
  for (const column of columns) for (const cell of column.cells) boundaries.add(cell.begin);
  return [...boundaries].sort(compareKeys);
}

export function largestRate(columns: readonly HeatColumn[]): number {
  let largest = 0;
  for (const column of columns) for (const cell of column.cells) largest = Math.max(largest, cell.rate);
  return largest;
}

// The tokens of a full bucket: as the emulator computes them.
export function burst(perSecond: number, burstMs: number): number {
  return Math.max(1, Math.floor((perSecond * burstMs) / 1_000));
}

// 'a/' to 'm', for people: '' means no boundary.
export function rangeText(begin: string, end: string): string {
  if (begin === '' && end === '') return 'all keys';
  if (begin === '') return `before ${end}`;
  return end === '' ? `from ${begin}` : `${begin} … ${end}`;
}
