import assert from 'node:assert/strict';
import { test } from 'node:test';
import { jobOf, outcomeOf, prefixesOf, type Plan } from './simulation.ts';

const plan: Plan = {
  operation: 'save',
  ranks: 4,
  filesPerRank: 2,
  fileMebibytes: 1.5,
  warmPartitions: 16,
  startSpreadSeconds: 0.5,
  client: 'crt',
  prefixes: ['a', 'b'],
  limits: { limits: 'aws-strict' },
};

test('a job has the members of the emulator', () => {
  assert.deepEqual(jobOf(plan, 'hex'), {
    operation: 'save',
    ranks: 4,
    files_per_rank: 2,
    file_bytes: 1_572_864,
    warm_partitions: 16,
    start_spread_s: 0.5,
    client: 'crt',
    strategy: 'hex',
    limits: 'aws-strict',
  });
  assert.deepEqual(jobOf(plan, 'round-robin')['prefixes'], ['a', 'b']);
});

test('prefixes are separated by spaces or commas', () => assert.deepEqual(prefixesOf(' a, b  c,'), ['a', 'b', 'c']));

test('the outcome is that of the worst round', () => {
  const rounds = [
    { lasted_s: 2, completed: true, ranks_failed: 0 },
    { lasted_s: 7, completed: false, ranks_failed: 3 },
  ];
  const intervals = [
    { requests: 1, refused: 0, partitions: 1 },
    { requests: 1, refused: 0, partitions: 5 },
  ];
  assert.deepEqual(outcomeOf({ strategy: 'hex', requests: 9, refused: 2, retries: 1, gave_up: 1, rounds, intervals }), {
    strategy: 'hex',
    completed: false,
    seconds: 7,
    requests: 9,
    refused: 2,
    retries: 1,
    ranksFailed: 3,
    partitions: 5,
  });
});
