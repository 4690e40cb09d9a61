import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clamp, pan, ticks, zoom } from './scale.ts';

test('zooming keeps the byte under the pointer and stays within the object', () => {
  const window = zoom({ from: 0, to: 1000 }, 250, 0.5, 1000);
  assert.deepEqual(window, { from: 125, to: 625 });
  assert.deepEqual(zoom(window, 250, 100, 1000), { from: 0, to: 1000 });
  const closest = zoom(window, 300, 0.0001, 1000);
  assert.equal(closest.to - closest.from, 16);
});

test('panning stops at the ends', () => {
  assert.deepEqual(pan({ from: 100, to: 200 }, -500, 1000), { from: 0, to: 100 });
  assert.deepEqual(pan({ from: 100, to: 200 }, 5000, 1000), { from: 900, to: 1000 });
  assert.deepEqual(clamp({ from: -5, to: 5000 }, 1000), { from: 0, to: 1000 });
});

test('marks are at multiples of a power of two, and not too many', () => {
  assert.deepEqual(ticks({ from: 100, to: 1000 }, 4), [256, 512, 768]);
  assert.ok(ticks({ from: 0, to: 2 ** 40 }, 8).length <= 9);
});

test('an object below the smallest window is shown as it is', () => {
  assert.deepEqual(clamp({ from: 0, to: 13 }, 13), { from: 0, to: 13 });
  assert.deepEqual(zoom({ from: 0, to: 13 }, 6, 0.5, 13), { from: 0, to: 13 });
  assert.deepEqual(zoom({ from: 0, to: 0 }, 0, 0.5, 0), { from: 0, to: 0 });
});
