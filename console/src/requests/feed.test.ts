import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Entry } from '../lib/entry.ts';
import { type Answer, emptyFeed, isGap, merge, mostRows } from './feed.ts';

const answer = (numbers: readonly number[], last: number, generation = 'g'): Answer => ({
  size: numbers.length,
  dropped: 0,
  last,
  generation,
  entries: numbers.map((number) => ({ number }) as Entry),
});
const numbers = (feed: { rows: readonly { number: number }[] }) => feed.rows.map((row) => (isGap(row as never) ? -row.number : row.number));

test('entries are newest first, and a gap shows what was not fetched', () => {
  let feed = merge(emptyFeed, answer([8, 9, 10], 10), 3, false);
  assert.deepEqual(numbers(feed), [10, 9, 8], 'what was before the first answer is no gap');
  feed = merge(feed, answer([11], 11), 200, false);
  feed = merge(feed, answer([19, 20], 20), 2, false);
  assert.deepEqual(numbers(feed), [20, 19, -18, 11, 10, 9, 8]);
  assert.deepEqual(feed.rows[2], { number: 18, missed: 7 });
});

test('with a filter a gap is only known to exist', () => {
  const feed = merge(emptyFeed, answer([5], 10), 1000, true);
  assert.deepEqual(numbers(merge(feed, answer([12], 20), 2, true)), [12, 5]);
  assert.deepEqual(merge(feed, answer([12, 15], 20), 2, true).rows[2], { number: 11, missed: null });
});

test('a new journal replaces the rows', () => {
  const feed = merge(emptyFeed, answer([5, 6], 6), 1000, false);
  assert.deepEqual(numbers(merge(feed, answer([1], 1, 'other'), 200, false)), [1]);
});

test('the number of rows is limited', () => {
  const many = Array.from({ length: mostRows }, (_, i) => i + 1);
  const feed = merge(emptyFeed, answer(many, mostRows), mostRows, false);
  assert.equal(merge(feed, answer([mostRows + 1], mostRows + 1), 200, false).rows.length, mostRows);
});
