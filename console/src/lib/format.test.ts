import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as format from './format.ts';

test('bytes have binary units and at most three digits', () => {
  assert.equal(format.bytes(0), '0 B');
  assert.equal(format.bytes(1023), '1,023 B');
  assert.equal(format.bytes(1536), '1.5 KiB');
  assert.equal(format.bytes(8 * 2 ** 20), '8 MiB');
  assert.equal(format.bytes(1.2345 * 2 ** 30), '1.23 GiB');
  assert.equal(format.byteRate(2048), '2 KiB/s');
});

test('durations choose the unit', () => {
  assert.equal(format.duration(0), '0 ms');
  assert.equal(format.duration(0.000_25), '250 µs');
  assert.equal(format.duration(0.012_34), '12.3 ms');
  assert.equal(format.duration(1.5), '1.5 s');
  assert.equal(format.duration(65), '1 min 5 s');
  assert.equal(format.duration(7_380), '2 h 3 min');
  assert.equal(format.duration(86_400), '1 d');
  assert.equal(format.duration(-65), '−1 min 5 s');
});

test('numbers that are not known are a dash', () => {
  assert.equal(format.count(Number.NaN), '–');
  assert.equal(format.bytes(Number.POSITIVE_INFINITY), '–');
  assert.equal(format.duration(Number.NaN), '–');
});

test('times are shown as they are written', () => {
  assert.equal(format.timeOfDay('2030-01-02T03:04:05.678Z'), '03:04:05.678');
  assert.equal(format.dateTime('2030-01-02T03:04:05.678Z'), '2030-01-02 03:04:05 UTC');
  assert.equal(format.timeOfDay('nonsense'), 'nonsense');
});
