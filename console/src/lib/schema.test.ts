import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { childPlace, firstValue, nodeOf, placeOf, scalarOf, variantOf, type Json, type Node, type Schema } from './schema.ts';

const root = JSON.parse(readFileSync(new URL('../../../docs/faults.schema.json', import.meta.url), 'utf8')) as Schema;
const define = (name: string): Schema => ({ $ref: `#/$defs/${name}` });
const node = <Kind extends Node['kind']>(of: Schema, kind: Kind) => {
  const found = nodeOf(of, root);
  assert.equal(found.kind, kind);
  return found as Extract<Node, { kind: Kind }>;
};
const property = (of: Schema, name: string) => node(of, 'object').properties.find((one) => one.name === name)!;

test('a rule is an object whose action is required', () => {
  const rule = node(define('rule'), 'object');
  assert.deepEqual(
    rule.properties.filter((one) => one.required).map((one) => one.name),
    ['do'],
  );
  assert.deepEqual(firstValue(define('rule'), root), { do: { error: {} } });
});

test('every action is a variant with its name, and has a form', () => {
  const { variants } = node(property(define('rule'), 'do').schema, 'choice');
  const names = variants.map((variant) => variant.title);
  assert.equal(names.at(-1), 'list');
  assert.ok(names.includes('slow_down') && names.includes('tls_certificate'));
  for (const variant of variants.slice(0, -1)) {
    const value = firstValue(variant.schema, root);
    assert.equal(variantOf(value, variants, root), variants.indexOf(variant), variant.title);
    assert.ok(variant.help, variant.title);
  }
});

test('no part of the schema is without a form', () => {
  const visit = (schema: Schema, depth: number): void => {
    const found = nodeOf(schema, root);
    assert.notEqual(found.kind, 'any', JSON.stringify(schema));
    if (depth === 0) return;
    if (found.kind === 'object') found.properties.forEach((one) => visit(one.schema, depth - 1));
    if (found.kind === 'choice') found.variants.forEach((one) => visit(one.schema, depth - 1));
    if (found.kind === 'array') visit(found.items, depth - 1);
    if (found.kind === 'map') visit(found.values, depth - 1);
  };
  visit(define('scenario'), 8);
});

test('choices within choices are one list', () => {
  const key = node(define('pattern'), 'choice');
  assert.deepEqual(
    key.variants.map((variant) => variant.title),
    ['text', 'members'],
  );
  assert.equal(variantOf({ prefix: 'data/' }, key.variants, root), 1);
  const version = node(define('presence'), 'choice');
  assert.deepEqual(
    version.variants.map((variant) => variant.title),
    ['yes or no', 'text', 'members'],
  );
});

test('numbers and texts share a field', () => {
  assert.deepEqual(nodeOf(define('numbers'), root), { kind: 'text', number: true, suggestions: [] });
  assert.deepEqual(nodeOf(define('counts'), root), { kind: 'text', number: true, suggestions: [] });
  assert.equal(scalarOf('3', true), 3);
  assert.equal(scalarOf('>=3', true), '>=3');
  assert.equal(scalarOf('03', true), '03');
  assert.equal(scalarOf('3', false), '3');
});

test('moments are suggested from the pattern', () => {
  const at = node(property(define('reset'), 'at').schema, 'text');
  assert.deepEqual(at.suggestions, ['accept', 'headers', 'body_in', 'before_commit', 'after_commit', 'status', 'body_out', 'trailer', 'close']);
  assert.equal(node(property(define('late_error'), 'at').schema, 'enum').values.length, 2);
});

test('a constant and a map have their kinds', () => {
  assert.deepEqual(nodeOf(define('unlike_s3'), root), { kind: 'constant', value: true });
  assert.equal(nodeOf(property(define('condition'), 'header').schema, root).kind, 'map');
  assert.deepEqual(firstValue(define('delay_visibility'), root), { delay_visibility: { ms: 1, unlike_s3: true } });
});

test('the place of an error is known', () => {
  assert.deepEqual(placeOf("rules[0].do.error: unknown field 'cod'"), { place: 'rules[0].do.error', text: "unknown field 'cod'" });
  assert.deepEqual(placeOf('the scenario is too large'), { place: '', text: 'the scenario is too large' });
  assert.equal(childPlace(childPlace('', 'rules'), 2), 'rules[2]');
  assert.equal(childPlace('rules[2]', 'when'), 'rules[2].when');
});

test('a value that no variant has is shown as the first', () => {
  const { variants } = node(define('pattern'), 'choice');
  assert.equal(variantOf(7 as Json, variants, root), 0);
});
