import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { type Entry, signatureVerdict } from './entry.ts';
import { boto3Line, curlLine, methodName, pythonQuoted, shellQuoted } from './replay.ts';

const endpoint = { host: '127.0.0.1', port: 9000 };

function entry(change: Partial<Entry>): Entry {
  return {
    number: 1,
    received: '2030-01-02T03:04:05.000Z',
    began_s: 0,
    lasted_s: 0.001,
    connection: 1,
    requests_before: 0,
    tls: false,
    peer: '127.0.0.1',
    method: 'GET',
    target: '/data/key',
    operation: 'GetObject',
    bucket: 'data',
    key: 'key',
    status: 200,
    ending: 'answered',
    bytes_in: 0,
    bytes_out: 5,
    access_key: 'AKID',
    request_id: '1',
    attempt: 1,
    ...change,
  };
}

const difficult = ['', 'plain', "it's", 'a "b" $HOME `id` \\ !x', '-x', 'ü – 😀', '*?[a]{b,c}~', "''", '\\'];
const invisible = ['two\nlines', "tab\tit's", '\u2028', 'x/\u202egpj.exe', '\u200b\\', '\u00ad1', '\u{e0001}', '\u001b[31m'];

test('a shell reads a quoted text as it was', () => {
  const printed = execFileSync('sh', ['-c', `printf '%s|' ${difficult.map(shellQuoted).join(' ')}`], { encoding: 'utf8' });
  assert.equal(printed, difficult.map((text) => `${text}|`).join(''));
});

test('bash reads a text without a glyph as it was, from a line that shows it', () => {
  const words = invisible.map(shellQuoted).join(' ');
  assert.match(words, /^[\x20-\x7e]+$/);
  const printed = execFileSync('bash', ['-c', `printf '%s|' ${words}`], { encoding: 'utf8' });
  assert.equal(printed, invisible.map((text) => `${text}|`).join(''));
});

test('Python reads a quoted text as it was', () => {
  const texts = [...difficult, ...invisible, '\u0000\u001b\u0085', '#{x}', '%s'];
  const list = `[${texts.map(pythonQuoted).join(', ')}]`;
  assert.match(invisible.map(pythonQuoted).join(''), /^[\x20-\x7e]+$/);
  const printed = execFileSync('python3', ['-c', `import json; print(json.dumps(${list}))`], { encoding: 'utf8' });
  assert.deepEqual(JSON.parse(printed), texts);
});

test('curl gets a new signature, and keys from the environment', () => {
  assert.equal(
    curlLine(entry({ target: '/data/a%20b?versionId=x%2Fy', key: 'a b' }), endpoint),
    'curl --globoff --path-as-is --aws-sigv4 aws:amz:us-east-1:s3 --user "$AWS_ACCESS_KEY_ID:$AWS_SECRET_ACCESS_KEY" ' +
      "--header x-amz-content-sha256:UNSIGNED-PAYLOAD 'http://127.0.0.1:9000/data/a%20b?versionId=x%2Fy'",
  );
});

test('a presigned request loses its signature, in both versions', () => {
  const v4 = entry({ target: '/data/key?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AKID&X-Amz-Signature=***&partNumber=2' });
  assert.ok(curlLine(v4, endpoint).endsWith("'http://127.0.0.1:9000/data/key?partNumber=2'"));
  const v2 = entry({ target: '/data/key?AWSAccessKeyId=AKID&Expires=1&Signature=***' });
  assert.ok(curlLine(v2, endpoint).endsWith(' http://127.0.0.1:9000/data/key'));
});

test('no secret and no masked value is in a line', () => {
  const secret = entry({
    request_headers: [
      ['Authorization', 'AWS4-HMAC-SHA256 Credential=AKID/20300102/eu-west-1/s3/aws4_request, Signature=***'],
      ['x-amz-security-token', '***'],
      ['x-amz-server-side-encryption-customer-key', '***'],
      ['x-amz-meta-note', "it's"],
      ['Range', 'bytes=0-4'],
    ],
  });
  const line = curlLine(secret, endpoint);
  assert.ok(!line.includes('***'));
  assert.ok(line.includes('aws:amz:eu-west-1:s3'));
  assert.ok(line.includes(`--header 'x-amz-meta-note: it'\\''s' --header 'Range: bytes=0-4'`));
  assert.ok(line.includes('"x-amz-security-token: $AWS_SESSION_TOKEN"'));
});

test('curl sends bodies as the request did', () => {
  const put = entry({ method: 'PUT', operation: 'PutObject', bytes_in: 5 });
  assert.match(curlLine(put, endpoint), / --upload-file BODY http/);
  assert.match(curlLine({ ...put, bytes_in: 0 }, endpoint), / --request PUT --data-binary '' http/);
  assert.match(curlLine(entry({ method: 'POST', bytes_in: 9 }), endpoint), / --request POST --data-binary @BODY http/);
  assert.match(curlLine(entry({ method: 'DELETE' }), endpoint), / --request DELETE http/);
  assert.match(curlLine(entry({ method: 'HEAD' }), endpoint), / --head http/);
});

test('the query of curl is sorted and encoded as it is signed', () => {
  const list = entry({ key: '', target: '/data?versions&prefix=a/b+c&max-keys=7&x=%zz' });
  assert.ok(curlLine(list, endpoint).endsWith(" 'http://127.0.0.1:9000/data?max-keys=7&prefix=a%2Fb%20c&versions=&x=%25zz'"));
});

test('a bucket in the host becomes a bucket in the path', () => {
  const line = curlLine(entry({ target: '/a%2Bb?acl', key: 'a+b', access_key: '' }), { host: '::1', port: 9000 });
  assert.equal(line, "curl --globoff --path-as-is 'http://[::1]:9000/data/a%2Bb?acl='");
});

test('boto3 has the arguments of the path and of the query', () => {
  assert.equal(
    boto3Line(entry({ status: 206, range: [0, 100], target: '/data/key?versionId=null' }), endpoint),
    'boto3.client("s3", endpoint_url="http://127.0.0.1:9000", region_name="us-east-1").get_object(Bucket="data", Key="key", VersionId="null", Range="bytes=0-99")',
  );
  const list = entry({ operation: 'ListObjectsV2', key: '', target: '/data?list-type=2&prefix=a%2Fb+c&max-keys=7&fetch-owner=true&encoding-type=url' });
  assert.match(boto3Line(list, endpoint)!, /\.list_objects_v2\(Bucket="data", Prefix="a\/b c", MaxKeys=7, FetchOwner=True\)$/);
  const part = entry({ operation: 'UploadPart', method: 'PUT', bytes_in: 1, target: '/data/key?partNumber=3&uploadId=u' });
  assert.match(boto3Line(part, endpoint)!, /PartNumber=3, UploadId="u", Body=open\("BODY", "rb"\)\)$/);
  assert.match(boto3Line(entry({ operation: 'DeleteObjects', key: '' }), endpoint)!, /\(Bucket="data", Delete=\.\.\.\)$/);
  assert.match(boto3Line(entry({ access_key: '' }), endpoint)!, /signature_version=botocore\.UNSIGNED/);
  assert.equal(boto3Line(entry({ operation: 'PostObject' }), endpoint), null);
});

test('names of methods are those of botocore', () => {
  assert.equal(methodName('ListObjectsV2'), 'list_objects_v2');
  assert.equal(methodName('GetBucketLifecycleConfiguration'), 'get_bucket_lifecycle_configuration');
  assert.equal(methodName('HeadObject'), 'head_object');
});

test('the verdict about a signature', () => {
  assert.deepEqual(signatureVerdict(entry({ signature: { version: 'v4', verdict: 'valid' } })), { text: 'valid (v4)', tone: 'ok' });
  assert.equal(signatureVerdict(entry({ status: 403, error_code: 'SignatureDoesNotMatch' })).tone, 'error');
  assert.equal(signatureVerdict(entry({ access_key: '' })).text, 'none: anonymous request');
  assert.equal(signatureVerdict(entry({})).text, 'accepted');
  assert.equal(signatureVerdict(entry({ status: 503 })).text, 'not known');
});
