import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isSameOrigin } from './same_origin.ts';

const host = 'localhost:5173';

test('the page itself, an entered address and a program are of the same origin', () => {
  const origin = `http://${host}`;
  for (const headers of [{}, { 'sec-fetch-site': 'none' }, { 'sec-fetch-site': 'same-origin' }, { origin, referer: `${origin}/`, 'sec-fetch-site': 'same-origin' }]) {
    assert.equal(isSameOrigin({ host, ...headers }), true, JSON.stringify(headers));
  }
});

test('pages of other origins are recognized by each of the headers', () => {
  const others = ['null', '', 'http://localhost', 'http://localhost:5174', 'https://localhost:5173', 'http://localhost:5173.example', 'http://example.com'];
  for (const origin of others) {
    assert.equal(isSameOrigin({ host, origin }), false, origin);
    assert.equal(isSameOrigin({ host, origin, 'sec-fetch-site': 'same-origin' }), false, origin);
    assert.equal(isSameOrigin({ host, referer: `${origin}/page` }), false, origin);
  }
  for (const site of ['cross-site', 'same-site', '', 'Same-Origin']) assert.equal(isSameOrigin({ host, 'sec-fetch-site': site }), false, site);
});

test('a request without a host is of no origin', () => {
  assert.equal(isSameOrigin({ origin: `http://${host}` }), false);
});
