import assert from 'node:assert/strict';
import { test } from 'node:test';
import { remainingText, ruleSummary, stateText, withRules, type RuleAccount } from './scenario.ts';

const named = [{ name: 'hot-prefix', about: '', rules: [{ id: 'hot', when: { operation: ['@read'] }, do: { slow_down: {} } }] }];
const rule = (members: Partial<RuleAccount>): RuleAccount => ({ id: 'a', matched: 0, fired: 0, under_way: 0, complete: false, request_ids: [], ...members });

test('every form of a scenario has rules', () => {
  assert.deepEqual(withRules([{ do: { fin: {} } }], []), { rules: [{ do: { fin: {} } }] });
  assert.deepEqual(withRules({ name: 'n', rules: [] }, []), { name: 'n', rules: [] });
  assert.deepEqual(withRules({ scenario: 'hot-prefix', seed: 3, key: { prefix: 'data/' } }, named), {
    name: 'hot-prefix',
    seed: 3,
    rules: [{ id: 'hot', when: { operation: ['@read'], key: { prefix: 'data/' } }, do: { slow_down: {} } }],
  });
});

test('what remains of a rule', () => {
  assert.equal(remainingText({ do: {}, limit: { times: 3000 } }, rule({ remaining: 2_999 })), '2,999');
  assert.equal(remainingText(undefined, rule({ remaining: 0 })), '0');
  assert.equal(remainingText({ do: {}, limit: { times: 3, per: 'key' } }, rule({})), '3 per key');
  assert.equal(remainingText({ do: {} }, rule({})), 'no limit');
});

test('a rule is summarised', () => {
  assert.equal(ruleSummary({ when: { operation: ['GetObject', '@list'], key: { prefix: 'd/' } }, do: [{ stall: { ms: 1 }, at: 'status' }, { reset: {} }] }), 'GetObject, @list; key {"prefix":"d/"} → stall, reset');
  assert.equal(ruleSummary({ do: { slow_down: {} } }), 'every request → slow_down');
});

test('a scenario of which nothing fired is not shown as a success', () => {
  assert.deepEqual(stateText({ fired: 0, complete: true }, 'not complete'), { text: 'nothing fired', tone: 'neutral' });
  assert.deepEqual(stateText({ fired: 1, complete: true }, 'not complete'), { text: 'complete', tone: 'ok' });
  assert.deepEqual(stateText({ fired: 1, complete: false }, 'not complete'), { text: 'not complete', tone: 'warning' });
});
