import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FormatError } from './binary.ts';
import { itemsOfFile, readDcpMetadata } from './dcp.ts';

// `.metadata` of torch 2.13: dcp.save({"model": {"weight": torch.arange(12.).reshape(4, 3), "bias": torch.zeros(5, dtype=torch.bfloat16)},
// "step": 7}, checkpoint_id=folder).
const metadata = [
  'gASVWgQAAAAAAACMJXRvcmNoLmRpc3RyaWJ1dGVkLmNoZWNrcG9pbnQubWV0YWRhdGGUjAhNZXRhZGF0YZSTlCmBlH2UKIwTc3RhdGVfZGljdF9tZXRhZGF0YZR9lCiMDG1vZGVsLndl',
  'aWdodJRoAIwVVGVuc29yU3RvcmFnZU1ldGFkYXRhlJOUKYGUfZQojApwcm9wZXJ0aWVzlGgAjBBUZW5zb3JQcm9wZXJ0aWVzlJOUKYGUKIwFdG9yY2iUjAdmbG9hdDMylJOUjBN0b3Jj',
  'aC5zZXJpYWxpemF0aW9ulIwLX2dldF9sYXlvdXSUk5SMDXRvcmNoLnN0cmlkZWSUhZRSlIloAIwUX01FTV9GT1JNQVRfRU5DT0RJTkeUk5RLAIWUUpSJdJRijARzaXpllIwFdG9yY2iU',
  'jARTaXpllJOUSwRLA4aUhZRSlIwGY2h1bmtzlF2UaACMFENodW5rU3RvcmFnZU1ldGFkYXRhlJOUKYGUfZQojAdvZmZzZXRzlGghSwBLAIaUhZRSlIwFc2l6ZXOUaCFLBEsDhpSFlFKU',
  'dWJhdWKMCm1vZGVsLmJpYXOUaAkpgZR9lChoDGgOKYGUKGgQjAhiZmxvYXQxNpSTlGgYiWgciXSUYmgeaCFLBYWUhZRSlGglXZRoKCmBlH2UKGgraCFLAIWUhZRSlGgvaCFLBYWUhZRS',
  'lHViYXVijARzdGVwlGgAjBRCeXRlc1N0b3JhZ2VNZXRhZGF0YZSTlCmBlHWMDHBsYW5uZXJfZGF0YZR9lChoB4wFbW9kZWyUjAZ3ZWlnaHSUhpRoM2hMjARiaWFzlIaUaEZoRoWUdYwM',
  'c3RvcmFnZV9kYXRhlH2UKGgAjA1NZXRhZGF0YUluZGV4lJOUKYGUfZQojANmcW6UaEaMBWluZGV4lE51YowndG9yY2guZGlzdHJpYnV0ZWQuY2hlY2twb2ludC5maWxlc3lzdGVtlIwM',
  'X1N0b3JhZ2VJbmZvlJOUKYGUfZQojA1yZWxhdGl2ZV9wYXRolIwMX18wXzAuZGlzdGNwlIwGb2Zmc2V0lEsAjAZsZW5ndGiUTe0EdWJoVSmBlH2UKGhYaAdoWUsAaGFoIUsASwCGlIWU',
  'UpR1YmhcKYGUfZQoaF9oYGhhTe0EaGJNKQZ1YmhVKYGUfZQoaFhoM2hZSwBoYWghSwCFlIWUUpR1YmhcKYGUfZQoaF9oYGhhTRYLaGJNKQZ1YnWMDHN0b3JhZ2VfbWV0YZRoAIwLU3Rv',
  'cmFnZU1ldGGUk5QpgZR9lCiMDWNoZWNrcG9pbnRfaWSUjAdwYXRobGlilIwJUG9zaXhQYXRolJOUjAEvlIwDdG1wlIwLdG1waTJwYTF4OWWUh5RSlIwHc2F2ZV9pZJSMJDYyNjhkZDNi',
  'LWQzMDEtNDkyMi1hYmFjLTU5ZGIwOTIwZTVkZJSMB2xvYWRfaWSUTowHbW9kdWxlc5RdlHVijAd2ZXJzaW9ulIwFMS4wLjCUdWIu',
].join('');
const bytes = Uint8Array.from(atob(metadata), (character) => character.charCodeAt(0));

test('items in the order of their bytes', () => {
  assert.deepEqual(
    readDcpMetadata(bytes).map(({ name, dtype, shape, file, begin, end }) => [name, dtype, shape, file, begin, end]),
    [
      ['step', '', [], '__0_0.distcp', 0, 1261],
      ['model.weight', 'float32', [4, 3], '__0_0.distcp', 1261, 2838],
      ['model.bias', 'bfloat16', [5], '__0_0.distcp', 2838, 4415],
    ],
  );
});

test('items of one file, with their types and parts', () => {
  const items = readDcpMetadata(bytes);
  assert.deepEqual(itemsOfFile(items, 'other'), []);
  assert.deepEqual(itemsOfFile(items, '__0_0.distcp').map(({ detail }) => detail), ['object', 'float32 4 × 3', 'bfloat16 5']);
  const part = { ...items[1]!, chunk: [2, 3], offsets: [2, 0] };
  assert.equal(itemsOfFile([part], '__0_0.distcp')[0]!.detail, 'float32 2 × 3 of 4 × 3, at 2, 0');
});

test('every truncation is an error that says why', () => {
  for (let size = 0; size < bytes.length; size++) assert.throws(() => readDcpMetadata(bytes.subarray(0, size)), FormatError, `${size} bytes`);
});

test('another pickle is an error', () => {
  assert.throws(() => readDcpMetadata(Uint8Array.from([0x80, 4, 0x7d, 0x2e])), /not the metadata of a distributed checkpoint/);
});
