// Rates and percentiles from the totals of live events. Pure.

export interface Histogram {
  counts: readonly number[]; // One more than the bounds; the last counts what is above all of them.
  sum_s: number;
}

export type LatencyClass = 'read' | 'list' | 'write';
export const latencyClasses: readonly LatencyClass[] = ['read', 'list', 'write'];

export interface LiveEvent {
  time: string;
  started: number;
  version: string;
  uptime_s: number;
  requests: Readonly<Record<string, number>>;
  statuses: Readonly<Record<string, number>>;
  bytes_in: number;
  bytes_out: number;
  injected_failures: number;
  retries: number;
  latency: { bounds_s: readonly number[] } & Readonly<Record<LatencyClass, Histogram>>;
  open_connections: number;
  memory_used_bytes: number;
  memory_limit_bytes: number;
  journal_bytes: number;
  namespaces: readonly string[];
  namespace: {
    name: string;
    clock: { now: string; frozen: boolean; offset_seconds: number; rate: number };
    journal: { last: number; generation: string } | null;
    limits_active: boolean;
    faults_active: boolean;
    s3_port: number;
  };
}

const sum = (counts: Readonly<Record<string, number>>) => Object.values(counts).reduce((total, n) => total + n, 0);

export const totalRequests = (event: LiveEvent) => sum(event.requests);

// Whether `next` continues the totals of `previous`: the same process, and no reset in between.
export function continues(previous: LiveEvent, next: LiveEvent): boolean {
  return (
    next.started === previous.started &&
    next.uptime_s > previous.uptime_s &&
    totalRequests(next) >= totalRequests(previous) &&
    next.bytes_in >= previous.bytes_in &&
    next.bytes_out >= previous.bytes_out
  );
}

// Events of the last `seconds`, oldest first, with `next` at the end. Only `next` if it does not continue them.
export function append(events: readonly LiveEvent[], next: LiveEvent, seconds: number): LiveEvent[] {
  const last = events.at(-1);
  if (last && last.started === next.started && last.uptime_s === next.uptime_s) return [...events];
  if (!last || !continues(last, next)) return [next];
  const oldest = next.uptime_s - seconds;
  return [...events.filter((event) => event.uptime_s >= oldest), next];
}

// The event from which rates at `events[index]` are computed: the latest one that is at least `seconds` older, or the first.
export function baseOf(events: readonly LiveEvent[], index: number, seconds: number): LiveEvent | undefined {
  const limit = events[index]!.uptime_s - seconds + 0.05; // Intervals are not exact.
  for (let i = index - 1; i >= 0; i--) if (events[i]!.uptime_s <= limit || i === 0) return events[i];
  return undefined;
}

export function rate(from: LiveEvent, to: LiveEvent, value: (event: LiveEvent) => number): number {
  const seconds = to.uptime_s - from.uptime_s;
  return seconds > 0 ? Math.max(0, value(to) - value(from)) / seconds : 0;
}

export function difference(from: Histogram, to: Histogram): number[] {
  return to.counts.map((n, i) => Math.max(0, n - (from.counts[i] ?? 0)));
}

// The value below which a share `q` of the counted values is, interpolated within its bucket as Prometheus does. The last bound
// if it is above all bounds; null without values.
export function percentile(bounds: readonly number[], counts: readonly number[], q: number): number | null {
  const total = counts.reduce((all, n) => all + n, 0);
  if (total === 0) return null;
  const rank = q * total;
  let below = 0;
  for (let i = 0; i < bounds.length; i++) {
    const n = counts[i]!;
    if (n > 0 && below + n >= rank) {
      const low = i === 0 ? 0 : bounds[i - 1]!;
      return low + (bounds[i]! - low) * Math.max(0, (rank - below) / n);
    }
    below += n;
  }
  return bounds.at(-1)!;
}

// 2xx, 3xx, ... of counts by status. Status 0: the connection ended before a response.
export function statusClass(status: number): string {
  return status === 0 ? 'no response' : `${Math.floor(status / 100)}xx`;
}

export function byStatusClass(statuses: Readonly<Record<string, number>>): Record<string, number> {
  const classes: Record<string, number> = {};
  for (const [status, n] of Object.entries(statuses)) {
    const name = statusClass(Number(status));
    classes[name] = (classes[name] ?? 0) + n;
  }
  return classes;
}

// The `most` names with the largest numbers, in the order of their names, so that a chart's colours stay.
export function largest(counts: Readonly<Record<string, number>>, most: number): string[] {
  return Object.entries(counts)
    .filter(([, n]) => n > 0)
    .sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1))
    .slice(0, most)
    .map(([name]) => name)
    .sort();
}
