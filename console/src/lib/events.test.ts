import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EventParser, reconnectDelay } from './events.ts';

test('events are complete at the empty line, in pieces of any size', () => {
  const text = ': comment\n\ndata: {"a": 1}\r\n\r\nevent: x\ndata: one\ndata:two\n\ndata: rest';
  for (let size = 1; size <= text.length; size++) {
    const parser = new EventParser();
    const found: string[] = [];
    for (let at = 0; at < text.length; at += size) found.push(...parser.push(text.slice(at, at + size)));
    assert.deepEqual(found, ['{"a": 1}', 'one\ntwo'], `pieces of ${size}`);
  }
});

test('the delay doubles up to ten seconds', () => {
  assert.equal(reconnectDelay(1, 1), 0.5);
  assert.equal(reconnectDelay(2, 1), 1);
  assert.equal(reconnectDelay(5, 1), 8);
  assert.equal(reconnectDelay(50, 1), 10);
  assert.equal(reconnectDelay(50, 0), 7.5);
});
