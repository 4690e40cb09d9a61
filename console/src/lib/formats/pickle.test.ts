import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FormatError } from './binary.ts';
import { Call, Dict, Global, isCallOf, readPickle, type Value } from './pickle.ts';

// Python: v = {'a': [1, -2, 70000, 2**40, 2**70, 1.5, True, None], 't': (1,), 's': {3}, 'b': b'\x00\xff', 'e': 'é\n', 'o': OrderedDict(x=1)};
// v['again'] = v['a']; base64.b64encode(pickle.dumps(v, protocol)).
const samples: Readonly<Record<number, string>> = {
  2: 'gAJ9cQAoWAEAAABhcQFdcQIoSwFK/v///0pwEQEAigYAAAAAAAGKCQAAAAAAAAAAQEc/+AAAAAAAAIhOZVgBAAAAdHEDSwGFcQRYAQAAAHNxBWNfX2J1aWx0aW5fXwpzZXQKcQZdcQdLA2GFcQhScQlYAQAAAGJxCmNfY29kZWNzCmVuY29kZQpxC1gDAAAAAMO/cQxYBgAAAGxhdGluMXENhnEOUnEPWAEAAABlcRBYAwAAAMOpCnERWAEAAABvcRJjY29sbGVjdGlvbnMKT3JkZXJlZERpY3QKcRMpUnEUWAEAAAB4cRVLAXNYBQAAAGFnYWlucRZoAnUu',
  3: 'gAN9cQAoWAEAAABhcQFdcQIoSwFK/v///0pwEQEAigYAAAAAAAGKCQAAAAAAAAAAQEc/+AAAAAAAAIhOZVgBAAAAdHEDSwGFcQRYAQAAAHNxBWNidWlsdGlucwpzZXQKcQZdcQdLA2GFcQhScQlYAQAAAGJxCkMCAP9xC1gBAAAAZXEMWAMAAADDqQpxDVgBAAAAb3EOY2NvbGxlY3Rpb25zCk9yZGVyZWREaWN0CnEPKVJxEFgBAAAAeHERSwFzWAUAAABhZ2FpbnESaAJ1Lg==',
  4: 'gASVkgAAAAAAAAB9lCiMAWGUXZQoSwFK/v///0pwEQEAigYAAAAAAAGKCQAAAAAAAAAAQEc/+AAAAAAAAIhOZYwBdJRLAYWUjAFzlI+UKEsDkIwBYpRDAgD/lIwBZZSMA8OpCpSMAW+UjAtjb2xsZWN0aW9uc5SMC09yZGVyZWREaWN0lJOUKVKUjAF4lEsBc4wFYWdhaW6UaAJ1Lg==',
  5: 'gAWVkgAAAAAAAAB9lCiMAWGUXZQoSwFK/v///0pwEQEAigYAAAAAAAGKCQAAAAAAAAAAQEc/+AAAAAAAAIhOZYwBdJRLAYWUjAFzlI+UKEsDkIwBYpRDAgD/lIwBZZSMA8OpCpSMAW+UjAtjb2xsZWN0aW9uc5SMC09yZGVyZWREaWN0lJOUKVKUjAF4lEsBc4wFYWdhaW6UaAJ1Lg==',
};
const decode = (base64: string) => Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
const pickle = (text: string) => readPickle(Uint8Array.from(text, (character) => character.charCodeAt(0)));

for (const [protocol, base64] of Object.entries(samples)) {
  test(`values of protocol ${protocol}`, () => {
    const root = readPickle(decode(base64)) as Dict;
    const list = root.get('a');
    assert.deepEqual(list, [1, -2, 70000, 2 ** 40, 2n ** 70n, 1.5, true, null]);
    assert.equal(root.get('again'), list);
    assert.deepEqual(root.get('t'), [1]);
    assert.equal(root.get('e'), 'é\n');
    assert.deepEqual((root.get('o') as Dict).entries, [['x', 1]]);
    const set = root.get('s');
    assert.deepEqual(set instanceof Call ? set.args[0] : set, [3]);
    if (Number(protocol) > 2) assert.deepEqual(root.get('b'), Uint8Array.from([0, 255]));
  });

  test(`truncations of protocol ${protocol} are errors`, () => {
    const bytes = decode(base64);
    for (let size = 0; size < bytes.length; size++) assert.throws(() => readPickle(bytes.subarray(0, size)), FormatError);
  });
}

test('calls are data: nothing runs', () => {
  const value = pickle("cposix\nsystem\n(X\x04\x00\x00\x00truetR.");
  assert.ok(isCallOf(value, 'posix.system'));
  assert.deepEqual(value.args, ['true']);
});

test('names of members of JavaScript objects are names', () => {
  const value = pickle('c__proto__\nconstructor\n)R}(X\x09\x00\x00\x00__proto__K\x01ub.');
  assert.ok(value instanceof Call);
  assert.equal((value.callee as Global).name, '__proto__.constructor');
  assert.deepEqual((value.state as Dict).get('__proto__'), 1);
  assert.equal(({} as Record<string, Value>)['1'], undefined);
});

test('cycles and deep nesting need no recursion', () => {
  const cycle = pickle(']q\x00h\x00a.') as Value[];
  assert.equal(cycle[0], cycle);
  let depth = 0;
  for (let value = pickle(`${']'.repeat(200_000)}${'a'.repeat(199_999)}.`) as Value[]; value.length > 0; value = value[0] as Value[]) depth++;
  assert.equal(depth, 199_999);
});

test('invalid pickles are errors', () => {
  for (const text of ['.', 'a.', 'h\x05.', 't.', 'K\x01K\x02s.', '\x80\x06N.', 'X\xff\xff\xff\xffa.', 'i.', '\x8bN', '\x93.', 'NNR.', '(K\x01u.']) {
    assert.throws(() => pickle(text), FormatError, JSON.stringify(text));
  }
});
