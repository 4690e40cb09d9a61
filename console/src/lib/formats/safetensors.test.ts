import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FormatError } from './binary.ts';
import { looksLikeSafetensors, readSafetensors } from './safetensors.ts';

function file(header: string, size = header.length): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(8 + header.length + 8);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(size), true);
  bytes.set(new TextEncoder().encode(header), 8);
  return bytes;
}

const read = (bytes: Uint8Array<ArrayBuffer>) => async (begin: number, end: number) => bytes.slice(begin, end);

test('tensors in the order of their bytes, and metadata', async () => {
  const header = '{"b":{"dtype":"F32","shape":[],"data_offsets":[4,8]},"__metadata__":{"by":"test"},"a":{"dtype":"F16","shape":[1,2],"data_offsets":[0,4]}}  ';
  assert.equal(looksLikeSafetensors(file(header)), true);
  const { tensors, metadata } = await readSafetensors(read(file(header)));
  const start = 8 + header.length;
  assert.deepEqual(
    tensors.map(({ name, detail, begin, end }) => [name, detail, begin - start, end - start]),
    [['a', 'F16 1 × 2', 0, 4], ['b', 'F32 scalar', 4, 8]],
  );
  assert.deepEqual(metadata, [['by', 'test']]);
});

test('hostile headers are errors', async () => {
  for (const bytes of [
    file('{}', 2 ** 52),
    file('{}', 100),
    file('[1]'),
    file('{"a":1}'),
    file('{"a":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}}'),
    file('{"a":{"dtype":"F32","shape":[1],"data_offsets":[4,0]}}'),
    file('not json'),
    new Uint8Array(3),
  ]) {
    await assert.rejects(readSafetensors(read(bytes)), FormatError);
  }
});
