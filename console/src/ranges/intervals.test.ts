import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bytesIn, coveredAtLeast, firstAfter, formatRanges, parseRanges, without } from './intervals.ts';

test('union and overlap', () => {
  const ranges = [[10, 20], [0, 5], [5, 8], [15, 30], [15, 18], [40, 40]] as const;
  assert.deepEqual(coveredAtLeast(ranges, 1), [[0, 8], [10, 30]]);
  assert.deepEqual(coveredAtLeast(ranges, 2), [[15, 20]]);
  assert.deepEqual(coveredAtLeast(ranges, 3), [[15, 18]]);
});

test('bytes of a set within bounds, and without another set', () => {
  const ranges = [[0, 10], [20, 30]] as const;
  assert.equal(bytesIn(ranges, 5, 25), 10);
  assert.equal(bytesIn(ranges, 10, 20), 0);
  assert.equal(firstAfter(ranges, 10), 1);
  assert.deepEqual(without(ranges, [[2, 4], [8, 22]]), [[0, 2], [4, 8], [22, 30]]);
  assert.deepEqual(without(ranges, []), [[0, 10], [20, 30]]);
});

test('ranges as text have inclusive ends', () => {
  assert.deepEqual(parseRanges(' 4096-8191, 0-99,50-199 '), [[0, 200], [4096, 8192]]);
  assert.equal(formatRanges([[0, 200], [4096, 8192]]), '0-199, 4096-8191');
  assert.deepEqual(parseRanges(''), []);
  assert.throws(() => parseRanges('5-4'), /5-4 ends before/);
  assert.throws(() => parseRanges('abc'), /“abc” is not a range/);
});
