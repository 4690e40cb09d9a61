// Times of a namespace's clock. Pure.
import { duration } from './format.ts';

export interface Clock {
  namespace?: string;
  now: string;
  frozen: boolean;
  offset_seconds: number;
  rate: number;
}

export const units = { seconds: 1, minutes: 60, hours: 3_600, days: 86_400, weeks: 604_800, years: 31_536_000 } as const;
export type Unit = keyof typeof units;

// The clock `elapsed` seconds of machine time after it was read.
export function nowOf(clock: Clock, elapsed: number): Date {
  return new Date(Date.parse(clock.now) + (clock.frozen ? 0 : elapsed * clock.rate * 1_000));
}

// The text of an input of type datetime-local as the time in UTC that it shows; null if it is incomplete.
export function utcOf(local: string): string | null {
  const match = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d)(:\d\d)?/.exec(local);
  return match ? `${match[1]}T${match[2]}${match[3] ?? ':00'}Z` : null;
}

export function localOf(date: Date): string {
  return date.toISOString().slice(0, 19);
}

export function offsetText(seconds: number): string {
  if (Math.abs(seconds) < 1) return "the machine's time";
  return `${duration(Math.abs(seconds))} ${seconds > 0 ? 'ahead of' : 'behind'} the machine`;
}

// Clients sign with their own clock: S3 refuses a difference of more than 15 minutes.
export const largestSkewSeconds = 900;

export const isChanged = (clock: Clock) => clock.frozen || clock.rate !== 1 || Math.abs(clock.offset_seconds) >= 1;

// A slider from 0.001 to 1000 times the machine's clock: positions from -30 to 30.
export const ratePosition = (rate: number) => Math.round(10 * Math.log10(rate));
export const rateAt = (position: number) => Number((10 ** (position / 10)).toPrecision(2));
