import assert from 'node:assert/strict';
import { test } from 'node:test';
import { actionText, changeOf } from './lifecycle.ts';

const action = { bucket: 'b', key: 'k', version_id: null, upload_id: null, rule: 'r', date: '', size: 0, from: null, to: null };

test('actions are texts', () => {
  assert.equal(actionText({ ...action, action: 'expire_object' }), 'delete');
  assert.equal(actionText({ ...action, action: 'transition', from: 'STANDARD', to: 'GLACIER' }), 'move to GLACIER');
  assert.equal(actionText({ ...action, action: 'new_kind' }), 'new_kind');
});

test('every form of an event has its change', () => {
  const record = { eventTime: 'T', eventName: 'ObjectCreated:Put', s3: { bucket: { name: 'b' }, object: { key: 'a+b%2Fc' } } };
  assert.deepEqual(changeOf({ Records: [record] }), { time: 'T', name: 'ObjectCreated:Put', bucket: 'b', key: 'a b/c' });
  const event = { time: 'T', 'detail-type': 'Object Created', detail: { bucket: { name: 'b' }, object: { key: 'a+b' } } };
  assert.deepEqual(changeOf(event), { time: 'T', name: 'Object Created', bucket: 'b', key: 'a+b' });
  assert.deepEqual(changeOf({ Event: 's3:TestEvent', Time: 'T', Bucket: 'b' }), { time: 'T', name: 's3:TestEvent', bucket: 'b', key: '' });
  assert.deepEqual(changeOf(null), { time: '', name: '', bucket: '', key: '' });
});
