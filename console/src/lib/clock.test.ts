import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isChanged, localOf, nowOf, offsetText, rateAt, ratePosition, utcOf } from './clock.ts';

const clock = { now: '2030-01-02T03:04:05.000Z', frozen: false, offset_seconds: 0, rate: 1 };

test('a clock runs at its rate', () => {
  assert.equal(nowOf({ ...clock, rate: 60 }, 2).toISOString(), '2030-01-02T03:06:05.000Z');
  assert.equal(nowOf({ ...clock, frozen: true }, 2).toISOString(), clock.now);
});

test('the fields of dates are in UTC', () => {
  assert.equal(utcOf('2030-01-02T03:04'), '2030-01-02T03:04:00Z');
  assert.equal(utcOf('2030-01-02T03:04:05'), '2030-01-02T03:04:05Z');
  assert.equal(utcOf(''), null);
  assert.equal(localOf(new Date(clock.now)), '2030-01-02T03:04:05');
});

test('the offset is a text', () => {
  assert.equal(offsetText(0.2), "the machine's time");
  assert.equal(offsetText(86_400), '1 d ahead of the machine');
  assert.equal(offsetText(-60), '1 min behind the machine');
});

test('a changed clock can be restored', () => {
  assert.ok(!isChanged(clock));
  assert.ok(isChanged({ ...clock, frozen: true }));
  assert.ok(isChanged({ ...clock, rate: 2 }));
  assert.ok(isChanged({ ...clock, offset_seconds: -2 }));
});

test('the speed has positions from a thousandth to a thousand', () => {
  assert.equal(rateAt(-30), 0.001);
  assert.equal(rateAt(0), 1);
  assert.equal(rateAt(30), 1_000);
  for (const position of [-17, 3, 28]) assert.equal(ratePosition(rateAt(position)), position);
});
