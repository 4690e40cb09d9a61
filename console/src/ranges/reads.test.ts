import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Entry } from '../lib/entry.ts';
import { byGroup, readOf, segmentsOf, type Read } from './reads.ts';

const entry = (change: Partial<Entry>): Entry =>
  ({ number: 1, began_s: 1, status: 206, range: [0, 10], connection: 7, peer: '[::1]:4711', access_key: 'key', ...change }) as Entry;

test('only successful reads with bytes count', () => {
  assert.deepEqual(readOf(entry({}))?.groups, { connection: '7', peer: '[::1]', access_key: 'key', user_agent: '', rank: '' });
  assert.equal(readOf(entry({ rank: 0 }))?.groups.rank, '0');
  for (const change of [{ status: 503 }, { status: 304 }, { range: [5, 5] as const }]) assert.equal(readOf(entry(change)), null);
  const { range: _range, ...head } = entry({});
  assert.equal(readOf(head), null);
});

const read = (number: number, begin: number, end: number, connection = 1): Read => readOf(entry({ number, began_s: number, range: [begin, end], connection }))!;

test('segments have counts and the time of the latest read', () => {
  const segments = segmentsOf([read(1, 0, 100), read(2, 50, 60), read(3, 55, 120), read(4, 300, 301)]);
  assert.deepEqual(
    segments.map(({ begin, end, count, last }) => [begin, end, count, last]),
    [[0, 50, 1, 1], [50, 55, 2, 2], [55, 60, 3, 3], [60, 100, 2, 3], [100, 120, 1, 3], [300, 301, 1, 4]],
  );
  assert.deepEqual(segmentsOf([]), []);
});

test('segments of many random reads agree with a count byte by byte', () => {
  let seed = 42;
  const random = (below: number) => (seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31) % below;
  const reads = Array.from({ length: 300 }, (_, i) => {
    const begin = random(500);
    return read(i + 1, begin, begin + 1 + random(80));
  });
  const counts = new Array<number>(600).fill(0);
  const latest = new Array<number>(600).fill(0);
  for (const { range, began } of reads) for (let at = range[0]; at < range[1]; at++) (counts[at]!++, (latest[at] = began));
  const found = new Array<number>(600).fill(0);
  for (const { begin, end, count, last } of segmentsOf(reads)) {
    for (let at = begin; at < end; at++) {
      found[at] = count;
      assert.equal(last, latest[at], `seed 42, byte ${at}`);
    }
  }
  assert.deepEqual(found, counts);
});

test('reads by connection', () => {
  assert.deepEqual([...byGroup([read(1, 0, 1, 5), read(2, 0, 1, 6), read(3, 1, 2, 5)], 'connection')].map(([value, reads]) => [value, reads.length]), [['5', 2], ['6', 1]]);
});
