import assert from 'node:assert/strict';
import { test } from 'node:test';
import { partsOf } from './parts.ts';

const mib = 2 ** 20;

test('files below 16 MiB have no parts', () => {
  assert.deepEqual(partsOf(0), []);
  assert.deepEqual(partsOf(16 * mib - 1), []);
});

test('parts of 8 MiB cover the file, the last one may be smaller', () => {
  const parts = partsOf(20 * mib + 1);
  assert.deepEqual(parts.map(({ number, begin, end }) => [number, begin, end]), [
    [1, 0, 8 * mib],
    [2, 8 * mib, 16 * mib],
    [3, 16 * mib, 20 * mib + 1],
  ]);
});

test('large files have at most 10,000 parts', () => {
  const size = 5 * 2 ** 40;
  const parts = partsOf(size);
  assert.ok(parts.length <= 10_000 && parts.length > 9_000);
  assert.equal(parts.at(-1)!.end, size);
});
