import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeText, hexDump, imageType, kindOf } from './sniff.ts';

const bytes = (text: string) => Uint8Array.from(text, (character) => character.charCodeAt(0));

test('raster images by their first bytes; documents that can have scripts are text', () => {
  assert.equal(imageType(bytes('\x89PNG\r\n\x1a\n0000')), 'image/png');
  assert.equal(imageType(bytes('RIFF0000WEBPVP8 ')), 'image/webp');
  assert.equal(imageType(bytes('\0\0\0\x20ftypavif')), 'image/avif');
  for (const document of ['<svg xmlns="http://www.w3.org/2000/svg"><script/></svg>', '<html><script>']) {
    assert.equal(kindOf('a.svg', bytes(document), document.length), 'text');
  }
});

test('formats', () => {
  assert.equal(kindOf('x', bytes('PAR1'), 100), 'parquet');
  assert.equal(kindOf('ckpt/.metadata', bytes('\x80\x02c'), 3), 'dcp');
  assert.equal(kindOf('ckpt/x.metadata', bytes('\x80\x02c'), 3), 'binary');
  assert.equal(kindOf('x', bytes('\x10\0\0\0\0\0\0\0{"a":1}'), 100), 'safetensors');
  assert.equal(kindOf('x', bytes('a\0b'), 3), 'binary');
});

test('text that is cut within a character is text', () => {
  const cut = new TextEncoder().encode('é').subarray(0, 1);
  assert.equal(decodeText(cut, true), '');
  assert.equal(decodeText(cut, false), null);
});

test('a dump has offsets, digits and ASCII', () => {
  assert.equal(hexDump(bytes('A\0')), '00000000  41 00                                            A.');
});
