import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeListed, escapeDirections, fileNameOf, hasDotSegment, prefixesOf, queryText, visibleJson, visiblePieces, visibleText } from './keys.ts';

test('segments of dots are found, other dots are not', () => {
  for (const key of ['.', '..', 'a/../b', './a', 'a/.']) assert.equal(hasDotSegment(key), true, key);
  for (const key of ['...', 'a.b/..c', '.hidden/x', 'a//b']) assert.equal(hasDotSegment(key), false, key);
});

test('a browser removes exactly the segments that hasDotSegment finds, also when they are percent-encoded', () => {
  for (const key of ['a/../b', '..', './x', '...', 'a//b', '/a', 'a/%2e%2e/b', 'a\\..\\b']) {
    const path = `/s3/bucket/${key.split('/').map(encodeURIComponent).join('/')}`;
    assert.equal(new URL(path, 'http://host').pathname !== path, hasDotSegment(key), key);
    if (hasDotSegment(key)) assert.notEqual(new URL(path.replaceAll('.', '%2e'), 'http://host').pathname, path.replaceAll('.', '%2e'), key);
  }
});

test('a query keeps every character', () => {
  const key = 'a b+c&d=e/%2F\u0001é😀..';
  const url = new URL(`/x${queryText([['penstock-key', key], ['uploads', ''], ['absent', undefined]])}`, 'http://host');
  assert.deepEqual([...url.searchParams], [['penstock-key', key], ['uploads', '']]);
  assert.equal(url.search.includes('+'), false);
});

test('names of listings are decoded: a plus is a space, %2B a plus', () => {
  assert.equal(decodeListed('a+b%2Bc%01%E2%80%AE'), 'a b+c\u0001\u202e');
});

test('characters without a glyph and those that change the direction are escapes', () => {
  assert.equal(visibleText('a\n\tb\u0000'), 'a\\n\\tb\\u{0}');
  assert.equal(visibleText('gnp\u202egpj\u2066x\u200d'), 'gnp\\u{202e}gpj\\u{2066}x\\u{200d}');
  assert.equal(visibleText('a\u00a0b\u2028'), 'a\\u{a0}b\\u{2028}');
  assert.deepEqual(visiblePieces('<script> é 日本 😀'), [{ text: '<script> é 日本 😀', escaped: false }]);
  assert.deepEqual(visiblePieces('ab\u0001c'), [
    { text: 'ab', escaped: false },
    { text: '\\u{1}', escaped: true },
    { text: 'c', escaped: false },
  ]);
});

test('JSON with escapes is the same value', () => {
  const value = { 'a\u202e': ['gpj\u2066 \u00a0\n\u0085', '\u{e0001}é 日本'], b: {} };
  const text = visibleJson(value);
  assert.deepEqual(JSON.parse(text), value);
  assert.equal(visibleText(text.replaceAll('\n', '')), text.replaceAll('\n', ''));
  assert.equal(visibleJson({ a: [' x'] }), JSON.stringify({ a: [' x'] }, null, 2));
});

test('texts keep their lines and letters', () => {
  assert.equal(escapeDirections('a\n\u202egpj\u200f שלום'), 'a\n\\u{202e}gpj\\u{200f} שלום');
});

test('file names have no separators and do not begin with a dot', () => {
  assert.equal(fileNameOf('a/b:c\u202e.txt'), 'b_c_.txt');
  assert.equal(fileNameOf('a/..'), '_');
  assert.equal(fileNameOf('folder/'), 'object');
  assert.equal(fileNameOf('x'.repeat(1024)).length, 150);
});

test('the prefixes above a prefix', () => {
  assert.deepEqual(prefixesOf('a/b/', '/'), ['a/', 'a/b/']);
  assert.deepEqual(prefixesOf('/a//', '/'), ['/', '/a/', '/a//']);
  assert.deepEqual(prefixesOf('', '/'), []);
});
