// The document of a namespace's limits (docs/limits.schema.json), and the scales of its sliders. Pure.
import type { PartitionLimits } from './partitions.ts';

export type LimitsDocument = Readonly<Record<string, unknown>>;

// The emulator's presets. A test compares them with the limits that it reports.
export const presets: Readonly<Record<string, PartitionLimits>> = {
  'aws-standard': { reads_per_second: 5_500, writes_per_second: 3_500, burst_ms: 100, split_after_s: 1_800, merge_after_s: 21_600, max_partitions: 4_096 },
  'aws-strict': { reads_per_second: 55, writes_per_second: 35, burst_ms: 100, split_after_s: 30, merge_after_s: 120, max_partitions: 4_096 },
  'aws-express': { reads_per_second: 2_000_000, writes_per_second: 200_000, burst_ms: 100, split_after_s: 0, merge_after_s: 0, max_partitions: 1 },
};

export type LimitName = keyof PartitionLimits;

// A slider has whole positions from 0 to `steps`; between `least` and `most` its values grow by a factor. Position 0 is 0 where
// `zero` is set.
export interface Scale {
  name: LimitName;
  title: string;
  unit: string;
  least: number;
  most: number; // Of the slider; the field beside it takes larger values.
  zero?: string; // What 0 means.
}

export const scales: readonly Scale[] = [
  { name: 'reads_per_second', title: 'Reads', unit: '/s', least: 1, most: 10_000 },
  { name: 'writes_per_second', title: 'Writes', unit: '/s', least: 1, most: 10_000 },
  { name: 'burst_ms', title: 'Burst', unit: 'ms', least: 1, most: 1_000, zero: 'one request' },
  { name: 'split_after_s', title: 'Split after', unit: 's', least: 1, most: 7_200, zero: 'never' },
  { name: 'merge_after_s', title: 'Merge after', unit: 's', least: 1, most: 86_400, zero: 'never' },
  { name: 'max_partitions', title: 'Partitions', unit: 'at most', least: 1, most: 65_536 },
];

export const steps = 200;

// Two significant digits, so that a slider yields 1,200 and not 1,197.
function rounded(value: number): number {
  if (value < 10) return Math.max(1, Math.round(value));
  const unit = 10 ** (Math.floor(Math.log10(value)) - 1);
  return Math.round(value / unit) * unit;
}

export function valueAt(scale: Scale, position: number): number {
  const first = scale.zero === undefined ? 0 : 1;
  if (position < first) return 0;
  const share = (position - first) / (steps - first);
  return Math.min(scale.most, rounded(scale.least * (scale.most / scale.least) ** share));
}

export function positionOf(scale: Scale, value: number): number {
  const first = scale.zero === undefined ? 0 : 1;
  if (value < scale.least) return 0;
  const share = Math.log(Math.min(value, scale.most) / scale.least) / Math.log(scale.most / scale.least);
  return Math.round(first + share * (steps - first));
}

function member(document: LimitsDocument, name: string): LimitsDocument | undefined {
  const value = document[name];
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as LimitsDocument) : undefined;
}

// The part of the document that is about `bucket`; '' is about all buckets.
export function scopeOf(document: LimitsDocument, bucket: string): LimitsDocument {
  return bucket === '' ? document : (member(member(document, 'buckets') ?? {}, bucket) ?? {});
}

// The document with another part. An empty part of a bucket is removed.
export function withScope(document: LimitsDocument, bucket: string, part: LimitsDocument): LimitsDocument {
  if (bucket === '') return part;
  const { [bucket]: _old, ...others } = member(document, 'buckets') ?? {};
  const buckets = Object.keys(part).length > 0 ? { ...others, [bucket]: part } : others;
  const { buckets: _all, ...rest } = document;
  return Object.keys(buckets).length > 0 ? { ...rest, buckets } : rest;
}

// The values that apply to general purpose buckets: the preset's, or the documented ones, and the differences from them.
export function effective(document: LimitsDocument, bucket: string): PartitionLimits {
  const base = bucket === '' ? presets['aws-standard']! : effective(document, '');
  const part = scopeOf(document, bucket);
  const preset = typeof part['preset'] === 'string' ? (presets[part['preset']] ?? base) : base;
  const result = { ...preset };
  for (const { name } of scales) if (typeof part[name] === 'number') result[name] = part[name];
  return result;
}

// Buckets that have limits of their own.
export function ownBuckets(document: LimitsDocument): string[] {
  return Object.keys(member(document, 'buckets') ?? {}).sort();
}
