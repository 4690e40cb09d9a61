import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KeptParams } from './kept.ts';
import { parseRoute } from './route.ts';

const made = () => new KeptParams(new Map([['requests', ['status', 'bucket']]]));

test('a view keeps its parameters while others are shown', () => {
  const kept = made();
  kept.keep(parseRoute('#/requests?status=503&entry=7&bucket=a%26b'));
  kept.keep(parseRoute('#/buckets?bucket=other'));
  assert.deepEqual(kept.of('requests', parseRoute('#/buckets')), [['status', '503'], ['bucket', 'a&b']]);
  assert.deepEqual(kept.of('buckets', parseRoute('#/requests')), [], 'it keeps none');
});

test('the tab of the view that is shown leads to its start', () => {
  const kept = made();
  const route = parseRoute('#/requests?status=503');
  kept.keep(route);
  assert.deepEqual(kept.of('requests', route), []);
  kept.keep(parseRoute('#/requests'));
  assert.deepEqual(kept.of('requests', parseRoute('#/faults')), [], 'the filters were removed');
});

test('namespaces have parameters of their own', () => {
  const kept = made();
  kept.keep(parseRoute('#/requests?status=503'));
  assert.deepEqual(kept.of('requests', parseRoute('#/faults?namespace=n')), []);
});
