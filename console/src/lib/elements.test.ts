import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assignElements } from './elements.ts';

const assigned = (previous: ReadonlyMap<string | number, number>, rows: readonly string[]) => [...assignElements(previous, rows).values()];

test('rows that stay keep their elements, and new rows get those that are free', () => {
  const first = assignElements(new Map(), ['c', 'b', 'a']);
  assert.deepEqual([...first.values()], [0, 1, 2]);
  assert.deepEqual(assigned(first, ['d', 'c', 'b']), [2, 0, 1]);
  assert.deepEqual(assigned(first, ['f', 'e', 'd']), [0, 1, 2], 'no element moves');
  assert.deepEqual(assigned(first, ['e', 'd', 'c', 'b']), [2, 3, 0, 1]);
  assert.deepEqual(assigned(first, []), []);
});

test('no element shows two rows', () => {
  let elements: Map<string | number, number> = new Map();
  for (let begin = 0; begin < 40; begin += 7) {
    const rows = Array.from({ length: 3 + (begin % 5) }, (_, i) => String(begin - i));
    elements = assignElements(elements, rows);
    assert.equal(new Set(elements.values()).size, rows.length);
  }
});
