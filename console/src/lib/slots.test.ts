import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Slots } from './slots.ts';

test('at most two tasks at a time, in their order, also after a failure', async () => {
  const slots = new Slots(2);
  const started: number[] = [];
  const ends: (() => void)[] = [];
  const tasks = [0, 1, 2, 3].map((number) =>
    slots.run(async () => {
      started.push(number);
      await new Promise<void>((resolve) => ends.push(resolve));
      if (number === 0) throw new Error('fails');
      return number;
    }),
  );
  const settled = Promise.allSettled(tasks);
  assert.deepEqual(started, [0, 1]);
  ends[0]!();
  await assert.rejects(tasks[0]!);
  await Promise.resolve();
  assert.deepEqual(started, [0, 1, 2]);
  ends[1]!();
  await tasks[1];
  await Promise.resolve();
  assert.deepEqual(started, [0, 1, 2, 3]);
  ends.slice(2).forEach((end) => end());
  assert.deepEqual((await settled).map(({ status }) => status), ['rejected', 'fulfilled', 'fulfilled', 'fulfilled']);
});
