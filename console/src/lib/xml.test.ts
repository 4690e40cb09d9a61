import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DOMParser } from '@xmldom/xmldom';
import { childrenNamed, fitsXml, indented, membersOf, parseXml, textAt, xmlEscape, type XmlParser } from './xml.ts';

const parser = new DOMParser({ onError: () => {} }) as unknown as XmlParser;
const parse = (text: string) => parseXml(text, parser);

test('members and paths', () => {
  const root = parse('<R xmlns="urn:x"><Buckets><Bucket><Name>a</Name><Region/></Bucket><Bucket><Name>b</Name></Bucket></Buckets></R>');
  assert.equal(textAt(root, 'Buckets', 'Bucket', 'Name'), 'a');
  assert.equal(textAt(root, 'Nothing', 'Name'), '');
  const buckets = childrenNamed(childrenNamed(root, 'Buckets')[0]!, 'Bucket');
  assert.deepEqual(buckets.map((one) => [...membersOf(one)]), [[['Name', 'a'], ['Region', '']], [['Name', 'b']]]);
});

test('what is escaped is read back unchanged', () => {
  const text = '<a & "b">\r\n\t]]>é😀\u202e';
  assert.equal(textAt(parse(`<R><K>${xmlEscape(text)}</K></R>`), 'K'), text);
});

test('characters that XML 1.0 does not have', () => {
  assert.equal(fitsXml('a\t\n\r é😀'), true);
  for (const text of ['\u0000', 'a\u0001', '\u001b', '\ufffe', '\ud800']) assert.equal(fitsXml(text), false, JSON.stringify(text));
});

test('keys with other characters do not spoil a document', () => {
  const root = parse('<R><Key>a&#x1;&#1;\u0001\ufffe&#xD;&#x1F600;&#9999999;b</Key><UploadId>id</UploadId></R>');
  assert.equal(textAt(root, 'UploadId'), 'id');
  assert.equal(textAt(root, 'Key'), 'a\ufffd\ufffd\ufffd\ufffd\r😀\ufffdb');
});

test('documents are shown with one element per line', () => {
  const root = parse('<A xmlns="urn:x"><B a="1&amp;2"><C>x &lt; y</C></B><D/></A>');
  assert.equal(indented(root), '<A xmlns="urn:x">\n  <B a="1&amp;2">\n    <C>x &lt; y</C>\n  </B>\n  <D/>\n</A>\n');
});

test('what is not XML is an error', () => {
  assert.throws(() => parse('no XML at all'));
});
