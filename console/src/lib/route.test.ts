import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatRoute, parseRoute } from './route.ts';

test('a route survives the address', () => {
  const hash = formatRoute('buckets', ['data', 'a/b c', 'ü%'], [['status', '5'], ['key', 'x&y=z'], ['empty', ''], ['none', undefined]], 'team');
  const route = parseRoute(hash);
  assert.equal(route.view, 'buckets');
  assert.deepEqual(route.path, ['data', 'a/b c', 'ü%']);
  assert.deepEqual([...route.params], [['status', '5'], ['key', 'x&y=z']]);
  assert.equal(route.namespace, 'team');
});

test('addresses that a person typed', () => {
  assert.deepEqual(parseRoute(''), { view: '', path: [], params: new Map(), namespace: 'default' });
  assert.equal(parseRoute('#requests').view, 'requests');
  assert.deepEqual(parseRoute('#/buckets/').path, []);
  assert.deepEqual(parseRoute('#/buckets/100%').path, ['100%']);
});

test('an address without a namespace means the default one', () => {
  assert.equal(formatRoute('buckets', ['data'], [], 'default'), '#/buckets/data');
  assert.equal(formatRoute('buckets', ['data'], [['key', 'a']], 'team'), '#/buckets/data?namespace=team&key=a');
  assert.equal(parseRoute('#/buckets/data?key=a').namespace, 'default');
  assert.equal(parseRoute('#/?namespace=').namespace, 'default');
  assert.deepEqual(parseRoute('#/?namespace=team'), { view: '', path: [], params: new Map(), namespace: 'team' });
});
