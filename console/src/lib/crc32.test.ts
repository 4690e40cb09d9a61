import assert from 'node:assert/strict';
import { test } from 'node:test';
import { crc32, crc32Header } from './crc32.ts';

test('the check value of CRC-32', () => {
  const bytes = new TextEncoder().encode('123456789');
  assert.equal(crc32(bytes), 0xcbf43926);
  assert.equal(crc32Header(bytes), 'y/Q5Jg==');
});
