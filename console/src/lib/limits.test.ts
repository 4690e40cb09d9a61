import assert from 'node:assert/strict';
import { test } from 'node:test';
import { effective, ownBuckets, positionOf, presets, scales, scopeOf, steps, valueAt, withScope } from './limits.ts';

test('sliders reach both ends and grow', () => {
  for (const scale of scales) {
    const values = Array.from({ length: steps + 1 }, (_, position) => valueAt(scale, position));
    assert.equal(values[0], scale.zero === undefined ? scale.least : 0, scale.name);
    assert.ok(Math.abs(values[steps]! - scale.most) <= scale.most * 0.05, scale.name);
    for (let i = 1; i <= steps; i++) assert.ok(values[i]! >= values[i - 1]!, `${scale.name} at ${i}`);
  }
});

test('a position is that of its value', () => {
  for (const scale of scales) {
    for (const position of [0, 50, 120, steps]) {
      const value = valueAt(scale, position);
      assert.equal(valueAt(scale, positionOf(scale, value)), value, `${scale.name} at ${position}`);
    }
    assert.equal(positionOf(scale, 10 ** 9), steps);
  }
});

test('differences change the values of the preset', () => {
  const document = { preset: 'aws-strict', writes_per_second: 5, buckets: { hot: { reads_per_second: 9 }, big: { preset: 'aws-standard' } } };
  assert.equal(effective(document, '').writes_per_second, 5);
  assert.equal(effective(document, '').reads_per_second, 55);
  assert.deepEqual(effective(document, 'hot'), { ...presets['aws-strict'], writes_per_second: 5, reads_per_second: 9 });
  assert.deepEqual(effective(document, 'big'), presets['aws-standard']);
  assert.deepEqual(effective({}, ''), presets['aws-standard']);
});

test('a part is changed without the others', () => {
  const document = { preset: 'aws-strict', seed: 7, buckets: { hot: { boundaries: ['m'] } } };
  assert.deepEqual(scopeOf(document, 'hot'), { boundaries: ['m'] });
  assert.deepEqual(withScope(document, 'cold', { burst_ms: 0 }), { ...document, buckets: { hot: { boundaries: ['m'] }, cold: { burst_ms: 0 } } });
  assert.deepEqual(withScope(document, 'hot', {}), { preset: 'aws-strict', seed: 7 });
  assert.deepEqual(ownBuckets(document), ['hot']);
});
