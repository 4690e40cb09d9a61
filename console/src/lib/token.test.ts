import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isHeaderText } from './token.ts';

test('exactly the tokens that a header can have are accepted', () => {
  for (const token of ['', 'token', 'a b', '~!"\\', 'é\u00ff', 'two\nlines', 'a\r', '\u0000', '\u0100', 'a\u2013b', '😀', '\u202e']) {
    let sent = true;
    try {
      new Headers().set('Authorization', `Bearer ${token}x`);
    } catch {
      sent = false;
    }
    assert.equal(isHeaderText(token), sent, JSON.stringify(token));
  }
});
