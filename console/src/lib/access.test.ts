import assert from 'node:assert/strict';
import { test } from 'node:test';
import { accountOf, decisionText, documentOf, entitiesOf, keysOf, keyState, principalsOf, questionQuery, refusalText, requesterText, statementOf, withKey, type Account, type Decision } from './access.ts';

const key = (id: string, members: object = {}) => ({ access_key_id: id, active: true, namespace: 'default', ...members });
const inline = { name: 'deny', document: { Statement: [{ Effect: 'Deny' }, { Effect: 'Allow' }] } };
const team: Account = {
  account_id: '111122223333',
  canonical_id: 'c1',
  display_name: 'team',
  access_keys: [key('ROOT')],
  users: [{ name: 'ann', path: '/people/', groups: ['g'], inline_policies: [inline], access_keys: [key('ANN')] }],
  groups: [{ name: 'g', attached_policies: ['arn:aws:iam::111122223333:policy/read'] }],
  managed_policies: [{ name: 'read', document: { Statement: { Effect: 'Allow' } } }],
};
const other: Account = { ...team, account_id: '444455556666', users: [{ name: 'ann', inline_policies: [{ name: 'deny', document: 'other' }], access_keys: [] }] };
const denied: Decision = { action: 's3:GetObject', resource: 'arn:aws:s3:::b/k', allowed: false, decided_by: 'identity-policy' };

test('keys and entities are rows', () => {
  assert.deepEqual(
    keysOf([team]).map((row) => [row.access_key_id, row.holder]),
    [
      ['ROOT', 'root'],
      ['ANN', 'ann'],
    ],
  );
  assert.deepEqual(
    entitiesOf([team]).map((row) => row.arn),
    ['arn:aws:iam::111122223333:user/people/ann', 'arn:aws:iam::111122223333:group/g', 'arn:aws:iam::111122223333:policy/read'],
  );
  assert.ok(principalsOf([team]).includes('arn:aws:iam::111122223333:root'));
});

test('a key has a state', () => {
  assert.equal(keyState(key('A'), ''), 'active');
  assert.equal(keyState(key('A', { active: false }), ''), 'disabled');
  assert.equal(keyState(key('A', { expires: '2030-01-01T00:00:00Z' }), '2030-01-01T00:00:00Z'), 'expired');
  assert.equal(keyState(key('A', { expires: '2030-01-01T00:00:00Z' }), '2029-01-01T00:00:00Z'), 'active');
});

test('a new key of a user repeats what the user has', () => {
  const made = { access_key_id: 'N', secret_access_key: 's', namespace: 'default' };
  const head = { account_id: '111122223333', canonical_id: 'c1', display_name: 'team' };
  assert.deepEqual(withKey(team, 'ann', made), {
    accounts: [{ ...head, users: [{ name: 'ann', path: '/people/', groups: ['g'], inline_policies: [inline], access_keys: [made] }] }],
  });
  assert.deepEqual(withKey(team, '', made), { accounts: [{ ...head, access_keys: [made] }] });
});

test('a decision names its statement or its reason', () => {
  assert.equal(decisionText({ ...denied, effect: 'Deny', policy: 'user/ann/deny', statement: 0, sid: 'No' }), 'Statement 0 (No) of user/ann/deny denies it.');
  assert.equal(decisionText({ ...denied, reason: 'because no identity-based policy allows it' }), 'Because no identity-based policy allows it.');
  assert.equal(decisionText({ ...denied, allowed: true, decided_by: 'account-root' }), 'Allowed by: the root of the account.');
});

test('the statement of a decision is found', () => {
  assert.deepEqual(statementOf(documentOf('user/ann/deny', [other, team], '111122223333'), 1), { Effect: 'Allow' });
  assert.equal(documentOf('user/ann/deny', [team, other], '444455556666'), 'other');
  assert.deepEqual(statementOf(documentOf('arn:aws:iam::111122223333:policy/read', [team], ''), 0), { Effect: 'Allow' });
  assert.equal(documentOf('arn:aws:iam::aws:policy/ReadOnlyAccess', [team], ''), undefined);
  assert.equal(documentOf('bucket/data', [team], ''), undefined);
});

test('the account of a requester is known by key and by ARN', () => {
  assert.equal(accountOf('ANN', [team]), '111122223333');
  assert.equal(accountOf('arn:aws:sts::444455556666:assumed-role/r/s', [team]), '444455556666');
  assert.equal(accountOf('', [team]), '');
});

test('a question may have several values of a condition', () => {
  const conditions = [
    { key: 's3:prefix', value: 'a/' },
    { key: 's3:prefix', value: 'b/' },
    { key: '', value: 'left out' },
  ];
  const query = questionQuery({ principal: '', action: 's3:ListBucket', resource: 'arn:aws:s3:::b', conditions });
  assert.equal(query, 'action=s3%3AListBucket&resource=arn%3Aaws%3As3%3A%3A%3Ab&s3%3Aprefix=a%2F&s3%3Aprefix=b%2F');
});

test('a refusal without decisions has a reason', () => {
  assert.match(refusalText('SignatureDoesNotMatch'), /signature is wrong/);
  assert.match(refusalText('Odd'), /Odd before policies/);
  assert.equal(refusalText('AccessDenied'), 'No policy was consulted for this request.');
});

test('only a request without a signature is unsigned', () => {
  const signed = (verdict: string) => ({ access_key: '', signature: { verdict } });
  assert.equal(requesterText({ access_key: 'ANN', signature: { verdict: 'valid' } }), 'ANN');
  assert.equal(requesterText(signed('invalid')), 'signature not valid');
  assert.equal(requesterText(signed('unverified')), 'signature not checked');
  assert.equal(requesterText({ access_key: '', faults: 'rule-1' }), 'not known');
  assert.equal(requesterText({ access_key: '' }), 'unsigned');
});
