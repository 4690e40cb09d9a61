import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatRoute, parseRoute } from './route.ts';

test('a route survives the address', () => {
  const hash = formatRoute('buckets', ['data', 'a/b c', 'ü%'], [['status', '5'], ['key', 'x&y=z'], ['empty', ''], ['none', undefined]]);
  const route = parseRoute(hash);
  assert.equal(route.view, 'buckets');
  assert.deepEqual(route.path, ['data', 'a/b c', 'ü%']);
  assert.deepEqual([...route.params], [['status', '5'], ['key', 'x&y=z']]);
});

test('addresses that a person typed', () => {
  assert.deepEqual(parseRoute(''), { view: '', path: [], params: new Map() });
  assert.equal(parseRoute('#requests').view, 'requests');
  assert.deepEqual(parseRoute('#/buckets/').path, []);
  assert.deepEqual(parseRoute('#/buckets/100%').path, ['100%']);
});
