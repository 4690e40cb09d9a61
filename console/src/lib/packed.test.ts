import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Row } from './listing.ts';
import { packRows, PackedRows, unpackRows } from './packed.ts';

const row = (key: string, change: Partial<Row> = {}): Row => ({ kind: 'object', key, size: 1, modified: 'm', storageClass: 'STANDARD', ...change });

test('rows are unpacked as they were', () => {
  const rows = [row('a\u0000"\\é😀'), row('p/', { kind: 'prefix' }), row('k', { version: '', latest: true }), row('k', { kind: 'delete marker', version: 'v', latest: false })];
  assert.deepEqual(unpackRows(packRows(rows)), rows);
});

test('rows of pages of any length', () => {
  const all = new PackedRows();
  const expected: string[] = [];
  for (const count of [3, 0, 1, 1_000, 2]) {
    const keys = Array.from({ length: count }, (_, i) => `key ${expected.length + i}`);
    all.add(packRows(keys.map((key) => row(key))));
    expected.push(...keys);
  }
  assert.equal(all.length, 1_006);
  const rows = all.snapshot();
  assert.deepEqual(rows.slice(0, 2_000).map(({ key }) => key), expected);
  for (const index of [0, 2, 3, 4, 1_003, 1_005]) assert.equal(rows.at(index)?.key, `key ${index}`);
  assert.equal(rows.at(1_006), undefined);
  assert.equal(rows.at(-1), undefined);
});

test('a snapshot does not grow', () => {
  const all = new PackedRows();
  all.add(packRows([row('a')]));
  const rows = all.snapshot();
  all.add(packRows([row('b')]));
  assert.equal(rows.length, 1);
  assert.equal(rows.at(1), undefined);
  assert.deepEqual(rows.slice(0, 5).map(({ key }) => key), ['a']);
});

test('more pages than are kept unpacked', () => {
  const all = new PackedRows();
  for (let i = 0; i < 50; i++) all.add(packRows([row(`${2 * i}`), row(`${2 * i + 1}`)]));
  for (const i of [99, 0, 50, 49, 98, 0, 99]) assert.equal(all.at(i)?.key, `${i}`);
});
