import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isAccountOf, remaining, ruleSummary, stateText, withRules, type FaultAccount, type RuleAccount } from './scenario.ts';

const named = [{ name: 'hot-prefix', about: '', rules: [{ id: 'hot', when: { operation: ['@read'] }, do: { slow_down: {} } }] }];
const rule = (members: Partial<RuleAccount>): RuleAccount => ({ id: 'a', matched: 0, fired: 0, under_way: 0, complete: false, request_ids: [], ...members });
const account = (name: string, ...ids: string[]): FaultAccount => ({ name, seed: 1, requests: 0, fired: 0, complete: false, rules: ids.map((id) => rule({ id })) });

test('every form of a scenario has rules', () => {
  assert.deepEqual(withRules([{ do: { fin: {} } }], []), { rules: [{ do: { fin: {} } }] });
  assert.deepEqual(withRules({ name: 'n', rules: [] }, []), { name: 'n', rules: [] });
  assert.deepEqual(withRules({ scenario: 'hot-prefix', seed: 3, key: { prefix: 'data/' } }, named), {
    name: 'hot-prefix',
    seed: 3,
    rules: [{ id: 'hot', when: { operation: ['@read'], key: { prefix: 'data/' } }, do: { slow_down: {} } }],
  });
});

test('the rest of a limit counts requests that are under way', () => {
  const limited = (limit: object) => ({ do: {}, limit: { ...limit } });
  assert.equal(remaining(limited({ times: 3 }), rule({ fired: 1, under_way: 1 })), 1);
  assert.equal(remaining(limited({ times: 3, per: 'key' }), rule({})), null);
  assert.equal(remaining({ do: {} }, rule({})), null);
  assert.equal(remaining(undefined, rule({})), null);
});

test('an account belongs to the scenario with its name and rules', () => {
  const scenario = { name: 'n', rules: [{ id: 'a', do: {} }, { do: {} }] };
  assert.ok(isAccountOf(account('n', 'a', 'rule-2'), scenario));
  assert.ok(!isAccountOf(account('n', 'a'), scenario));
  assert.ok(!isAccountOf(account('', 'a', 'rule-2'), scenario));
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
