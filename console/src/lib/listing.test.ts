import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseListing, type ListOptions } from './listing.ts';
import { XmlError } from './xml.ts';

const flat: ListOptions = { prefix: '', delimiter: '', versions: false };
const document = (inside: string) => `<?xml version="1.0" encoding="UTF-8"?>\n<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${inside}</ListBucketResult>`;

test('keys and the next page', () => {
  const contents = '<Contents><Key>a+b%2F%C3%A9</Key><LastModified>2026-11-30T00:00:00.000Z</LastModified><ETag>&quot;e&quot;</ETag><Size>7</Size><Owner><ID>id</ID></Owner><StorageClass>STANDARD</StorageClass></Contents>';
  const { rows, next } = parseListing(document(`<Name>b</Name><Prefix/><NextContinuationToken>t&amp;=</NextContinuationToken><IsTruncated>true</IsTruncated>${contents}`), flat);
  assert.deepEqual(rows, [{ kind: 'object', key: 'a b/é', size: 7, modified: '2026-11-30T00:00:00.000Z', storageClass: 'STANDARD' }]);
  assert.deepEqual(next, { 'continuation-token': 't&=' });
});

test('prefixes are sorted among keys', () => {
  const { rows, next } = parseListing(document('<IsTruncated>false</IsTruncated><Contents><Key>b</Key></Contents><CommonPrefixes><Prefix>a%2F</Prefix></CommonPrefixes>'), { ...flat, delimiter: '/' });
  assert.deepEqual(rows.map(({ kind, key }) => [kind, key]), [['prefix', 'a/'], ['object', 'b']]);
  assert.equal(next, null);
});

test('versions and delete markers', () => {
  const version = '<Version><Key>k</Key><VersionId>2</VersionId><IsLatest>false</IsLatest><Size>1</Size></Version>';
  const marker = '<DeleteMarker><Key>k</Key><VersionId>3</VersionId><IsLatest>true</IsLatest><Owner><ID>x</ID></Owner></DeleteMarker>';
  const { rows, next } = parseListing(document(`<IsTruncated>true</IsTruncated><NextKeyMarker>k%01</NextKeyMarker><NextVersionIdMarker>2</NextVersionIdMarker>${marker}${version}`), { ...flat, versions: true });
  assert.deepEqual(rows.map(({ kind, version, latest }) => [kind, version, latest]), [['delete marker', '3', true], ['object', '2', false]]);
  assert.deepEqual(next, { 'key-marker': 'k\u0001', 'version-id-marker': '2' });
});

test('references to characters', () => {
  assert.equal(parseListing(document('<Contents><Key>k</Key><StorageClass>&lt;&#65;&#x42;&#x1;&#9999999;&no;</StorageClass></Contents>'), flat).rows[0]!.storageClass, '<AB\u0001\ufffd&no;');
});

test('what is no complete document is an error', () => {
  const complete = document('<Contents><Key>k</Key></Contents>');
  for (let length = 0; length < complete.length; length++) assert.throws(() => parseListing(complete.slice(0, length), flat), XmlError, complete.slice(0, length));
  for (const text of ['no XML', '<a></b>', '<a><b></a></b>', `${complete}<`, `${complete}<a/>`, complete.replace('<Key>', '<Key><!-- -->')]) assert.throws(() => parseListing(text, flat), XmlError, text);
});
