// What the tiles, the charts and the tables of the overview have in common.
import * as history from '../lib/history.ts';
import type { LatencyClass, LiveEvent } from '../lib/history.ts';

export const rateSeconds = 1; // A tile shows what the legend of its chart shows.
export const latencySeconds = 5; // Percentiles of a shorter time jump with each request.
export const lastSeconds = (seconds: number) => `last ${seconds} s`;

export type Events = readonly LiveEvent[];

// The counts of one class in the seconds before event `i`.
export function latencyCounts(events: Events, i: number, of: LatencyClass): number[] {
  const base = history.baseOf(events, i, latencySeconds);
  return base ? history.difference(base.latency[of], events[i]!.latency[of]) : [];
}
