import assert from 'node:assert/strict';
import { test } from 'node:test';
import { countPrefixes } from './prefixes.ts';

const shown = (keys: string[], most = 10) => countPrefixes(keys, most).map(({ prefix, count }) => [prefix, count]);

test('keys are counted by folder, the largest first', () => {
  assert.deepEqual(shown(['a/1', 'a/2', 'b/1', 'top']), [
    ['a/', 2],
    ['', 1],
    ['b/', 1],
  ]);
});

test('a large folder is divided further', () => {
  const keys = ['data/train/1', 'data/train/2', 'data/train/3', 'data/val/1', 'other/1'];
  assert.deepEqual(shown(keys), [
    ['data/train/', 3],
    ['data/val/', 1],
    ['other/', 1],
  ]);
});

test('folders that do not fit stay one row', () => {
  const keys = Array.from({ length: 30 }, (_, i) => `run/${i}/x`);
  assert.deepEqual(countPrefixes(keys, 10), [{ prefix: 'run/', count: 30, whole: true }]);
  assert.equal(countPrefixes([...keys, 'b/1'], 10).length, 2);
});

test('the counts are those of all keys', () => {
  const keys = Array.from({ length: 500 }, (_, i) => `${i % 3}/${i % 7}/${i % 11}/${i}`);
  for (const most of [1, 3, 8, 40]) {
    const rows = countPrefixes(keys, most);
    assert.ok(rows.length <= most);
    assert.equal(
      rows.reduce((sum, row) => sum + row.count, 0),
      500,
    );
  }
});

test('without keys there is no row', () => assert.deepEqual(countPrefixes([], 5), []));
