import assert from 'node:assert/strict';
import { test } from 'node:test';
import { appendColumn, burst, columnOf, compareKeys, continues, newEvents, rangeText, rowsOf, type BucketReport, type HeatColumn, type Partition } from './partitions.ts';

const side = (admitted: number, refused: number) => ({ tokens: 1, admitted, refused, last_second: 0 });
const partition = (id: number, begin: string, end: string, admitted: number, refused = 0): Partition => ({
  id,
  begin,
  end,
  reads: side(0, 0),
  writes: side(admitted, refused),
});
const limits = { reads_per_second: 55, writes_per_second: 35, burst_ms: 100, split_after_s: 30, merge_after_s: 120, max_partitions: 16 };
const report = (partitions: Partition[], events: BucketReport['events'] = []): BucketReport => ({
  name: 'hot',
  limits,
  admitted: partitions.reduce((sum, one) => sum + one.writes.admitted, 0),
  refused: partitions.reduce((sum, one) => sum + one.writes.refused, 0),
  partitions,
  events,
});
const split = { at: '2026-01-01T00:00:00.000Z', kind: 'split', boundary: 'm', whole: 0, left: 1, right: 2 } as const;

test('a column has rates since the report before', () => {
  const column = columnOf(report([partition(0, '', '', 10, 0)]), report([partition(0, '', '', 20, 30)]), 100, 102);
  assert.deepEqual(column.cells, [{ id: 0, begin: '', end: '', rate: 20, refused: 0.75 }]);
});

test('partitions of a split have counted since they exist', () => {
  const column = columnOf(report([partition(0, '', '', 100)]), report([partition(1, '', 'm', 4), partition(2, 'm', '', 0)], [split]), 100, 102);
  assert.deepEqual(
    column.cells.map((cell) => [cell.id, cell.rate]),
    [
      [1, 2],
      [2, 0],
    ],
  );
  assert.deepEqual(column.events, [split]);
});

test('events are those after the last known one', () => {
  const merge = { ...split, kind: 'merge' as const, at: '2026-01-01T00:01:00.000Z' };
  assert.deepEqual(newEvents([], [split]), [split]);
  assert.deepEqual(newEvents([split], [split, merge]), [merge]);
  assert.deepEqual(newEvents([split], [merge]), [merge], 'the emulator dropped the known one');
});

test('a report with smaller counts does not continue', () => {
  const before = report([partition(0, '', '', 10)]);
  assert.ok(continues(before, report([partition(0, '', '', 10)])));
  assert.ok(!continues(before, report([partition(0, '', '', 9)])));
  assert.ok(!continues(before, { ...before, name: 'cold' }));
});

test('columns are bounded by time and by cells', () => {
  const column = (to: number, cells = 1): HeatColumn => ({
    from: to - 1,
    to,
    cells: Array.from({ length: cells }, (_, id) => ({ id, begin: '', end: '', rate: 0, refused: 0 })),
    events: [],
  });
  const kept = (columns: readonly HeatColumn[]) => columns.map((one) => one.to);
  assert.deepEqual(kept(appendColumn([column(1), column(2), column(3)], column(4), 2, 100)), [3, 4]);
  assert.deepEqual(kept(appendColumn([column(1, 40), column(2, 40)], column(3, 40), 60, 100)), [2, 3]);
  assert.deepEqual(kept(appendColumn([column(1)], column(2, 500), 60, 100)), [2], 'the newest column always shows');
});

test('rows are all boundaries in key order', () => {
  const whole = columnOf(report([partition(0, '', '', 0)]), report([partition(0, '', '', 1)]), 0, 1);
  const halves = columnOf(report([]), report([partition(1, '', 'm', 1), partition(2, 'm', '', 1)]), 1, 2);
  assert.deepEqual(rowsOf([whole, halves]), ['', 'm']);
});

test('keys have the order of their bytes', () => {
  const keys = ['b', 'a', 'a/', 'Z', '\u{10000}', '\uffff', 'é'];
  const bytes = [...keys].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  assert.deepEqual([...keys].sort(compareKeys), bytes);
});

test('a bucket of tokens is that of the emulator', () => {
  assert.equal(burst(55, 100), 5);
  assert.equal(burst(5, 100), 1);
});

test('ranges are texts', () => {
  assert.equal(rangeText('', ''), 'all keys');
  assert.equal(rangeText('', 'm'), 'before m');
  assert.equal(rangeText('m', ''), 'from m');
  assert.equal(rangeText('a', 'm'), 'a … m');
});
