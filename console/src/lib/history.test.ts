import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as history from './history.ts';

const bounds = [0.001, 0.01, 0.1];

function event(uptime_s: number, requests: number, more: Partial<history.LiveEvent> = {}): history.LiveEvent {
  const none = { counts: [0, 0, 0, 0], sum_s: 0 };
  return {
    time: '2030-01-02T03:04:05Z',
    started: 1,
    version: '0',
    uptime_s,
    requests: { GetObject: requests },
    statuses: { 200: requests },
    bytes_in: 0,
    bytes_out: 0,
    injected_failures: 0,
    retries: 0,
    latency: { bounds_s: bounds, read: none, list: none, write: none },
    open_connections: 0,
    memory_used_bytes: 0,
    memory_limit_bytes: 0,
    journal_bytes: 0,
    namespaces: ['default'],
    namespace: {
      name: 'default',
      clock: { now: '', frozen: false, offset_seconds: 0, rate: 1 },
      journal: { last: 0, generation: '' },
      limits_active: false,
      faults_active: false,
      s3_port: 9000,
    },
    ...more,
  };
}

test('events older than the span are removed', () => {
  let events: history.LiveEvent[] = [];
  for (let s = 0; s <= 10; s++) events = history.append(events, event(s, s), 5);
  assert.deepEqual(events.map((e) => e.uptime_s), [5, 6, 7, 8, 9, 10]);
});

test('a reset or a restart begins anew, a repeated event changes nothing', () => {
  const events = history.append([event(1, 5)], event(2, 7), 60);
  assert.deepEqual(history.append(events, event(3, 0), 60), [event(3, 0)]);
  const restarted = event(0.5, 9, { started: 2 });
  assert.deepEqual(history.append(events, restarted, 60), [restarted]);
  assert.equal(history.append(events, event(2, 7), 60).length, 2);
});

test('rates are over the time between two events', () => {
  const events = [event(0, 0), event(1, 10), event(2.5, 40)];
  const base = history.baseOf(events, 2, 1)!;
  assert.equal(base.uptime_s, 1);
  assert.equal(history.rate(base, events[2]!, history.totalRequests), 20);
  assert.equal(history.baseOf(events, 2, 60)!.uptime_s, 0);
  assert.equal(history.baseOf(events, 0, 1), undefined);
});

test('percentiles are interpolated within a bucket', () => {
  assert.equal(history.percentile(bounds, [0, 0, 0, 0], 0.5), null);
  assert.equal(history.percentile(bounds, [10, 0, 0, 0], 0.5), 0.0005);
  assert.ok(Math.abs(history.percentile(bounds, [50, 50, 0, 0], 0.75)! - 0.0055) < 1e-12);
  assert.equal(history.percentile(bounds, [50, 0, 0, 50], 0.99), 0.1, 'the last bound stands for what is above it');
  assert.equal(history.percentile(bounds, [0, 4, 0, 0], 0), 0.001, 'empty buckets are passed over');
});

test('a histogram of an interval is the difference of two', () => {
  assert.deepEqual(history.difference({ counts: [1, 2], sum_s: 0 }, { counts: [4, 2], sum_s: 0 }), [3, 0]);
});

test('statuses have classes', () => {
  assert.deepEqual(history.byStatusClass({ 200: 3, 206: 2, 404: 1, 0: 1 }), { '2xx': 5, '4xx': 1, 'no response': 1 });
});

test('the largest counts are in the order of their names', () => {
  assert.deepEqual(history.largest({ b: 5, a: 1, c: 9, d: 0, e: 2 }, 3), ['b', 'c', 'e']);
});
