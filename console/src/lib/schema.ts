// What a form needs to know of a JSON Schema: the kinds that the emulator's schemas use. Pure.

export interface Schema {
  $ref?: string;
  $defs?: Readonly<Record<string, Schema>>;
  title?: string;
  description?: string;
  type?: string;
  enum?: readonly unknown[];
  const?: unknown;
  oneOf?: readonly Schema[];
  anyOf?: readonly Schema[];
  allOf?: readonly Schema[];
  properties?: Readonly<Record<string, Schema>>;
  additionalProperties?: boolean | Schema;
  required?: readonly string[];
  items?: Schema;
  minItems?: number;
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: number;
  pattern?: string;
}

export type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };
export type JsonObject = { readonly [name: string]: Json };

// `name` is the one under which the schema is defined, for example 'slow_down'.
interface Resolved {
  schema: Schema;
  name: string;
}

export type Node =
  | { kind: 'object'; properties: readonly Property[] }
  | { kind: 'map'; values: Schema }
  | { kind: 'array'; items: Schema; least: number }
  | { kind: 'choice'; variants: readonly Variant[] }
  | { kind: 'enum'; values: readonly Json[] }
  | { kind: 'constant'; value: Json }
  | { kind: 'boolean' }
  | { kind: 'number'; whole: boolean; minimum: number | undefined; maximum: number | undefined }
  | { kind: 'text'; number: boolean; suggestions: readonly string[] } // `number`: digits are a number.
  | { kind: 'any' };

export interface Property {
  name: string;
  schema: Schema;
  required: boolean;
  help: string;
}

export interface Variant {
  title: string;
  schema: Schema;
  help: string;
}

function resolve(schema: Schema, root: Schema): Resolved {
  let name = '';
  let description = '';
  let at = schema;
  for (let depth = 0; depth < 16 && at.$ref; depth++) {
    description ||= at.description ?? '';
    name = at.$ref.replace(/^#\/\$defs\//, '');
    at = root.$defs?.[name] ?? {};
  }
  if (at.allOf && at.type === undefined) {
    const { allOf, ...rest } = at;
    at = allOf.reduce<Schema>((merged, part) => ({ ...resolve(part, root).schema, ...merged }), rest);
  }
  return { schema: description ? { ...at, description } : at, name };
}

export function helpOf(schema: Schema, root: Schema): string {
  return resolve(schema, root).schema.description ?? '';
}

const scalarTypes = new Set(['string', 'integer', 'number']);

// The alternatives of a choice, and those of the choices within it.
function flatten(all: readonly Schema[], root: Schema): Schema[] {
  return all.flatMap((one) => {
    const { schema } = resolve(one, root);
    return schema.oneOf ? flatten(schema.oneOf, root) : [one];
  });
}

const typeTitles: Readonly<Record<string, string>> = { string: 'text', boolean: 'yes or no', integer: 'number', number: 'number', array: 'list', object: 'members' };

function titleOf(one: Schema, root: Schema): string {
  const { schema, name } = resolve(one, root);
  if (schema.type === 'object' && name) return name;
  if (schema.enum) return 'one of';
  return typeTitles[schema.type ?? ''] ?? (name || 'value');
}

function choiceOf(alternatives: readonly Schema[], root: Schema): Node {
  const flat = flatten(alternatives, root);
  const resolved = flat.map((one) => resolve(one, root).schema);
  if (resolved.every((one) => scalarTypes.has(one.type ?? ''))) {
    return { kind: 'text', number: resolved.some((one) => one.type !== 'string'), suggestions: [] };
  }
  return { kind: 'choice', variants: flat.map((one) => ({ title: titleOf(one, root), schema: one, help: helpOf(one, root) })) };
}

// 'headers' and 'body_in' of '^(headers|body_in(@[0-9]{1,19})?)$'.
function suggestionsOf(pattern: string): string[] {
  const words = /^\^\((.*)\)\$$/.exec(pattern)?.[1]?.replaceAll(/\([^()]*\)\?/g, '').split('|') ?? [];
  return words.every((word) => /^\w+$/.test(word)) ? words : [];
}

export function nodeOf(of: Schema, root: Schema): Node {
  const { schema } = resolve(of, root);
  if (schema.const !== undefined) return { kind: 'constant', value: schema.const as Json };
  if (schema.enum) return { kind: 'enum', values: schema.enum as Json[] };
  if (schema.oneOf) return choiceOf(schema.oneOf, root);
  switch (schema.type) {
    case 'boolean':
      return { kind: 'boolean' };
    case 'integer':
    case 'number':
      return { kind: 'number', whole: schema.type === 'integer', minimum: schema.minimum ?? schema.exclusiveMinimum, maximum: schema.maximum };
    case 'string':
      return { kind: 'text', number: false, suggestions: suggestionsOf(schema.pattern ?? '') };
    case 'array':
      return { kind: 'array', items: schema.items ?? {}, least: schema.minItems ?? 0 };
    case 'object':
      break;
    default:
      return { kind: 'any' };
  }
  if (!schema.properties && typeof schema.additionalProperties === 'object') return { kind: 'map', values: schema.additionalProperties };
  const required = new Set(schema.required ?? []);
  const properties = Object.entries(schema.properties ?? {}).map(([name, property]) => ({
    name,
    schema: property,
    required: required.has(name),
    help: helpOf(property, root),
  }));
  return { kind: 'object', properties };
}

export const isObject = (value: Json | undefined): value is JsonObject => typeof value === 'object' && value !== null && !Array.isArray(value);

function fits(value: Json, of: Schema, root: Schema): boolean {
  const node = nodeOf(of, root);
  switch (node.kind) {
    case 'object':
      return isObject(value) && node.properties.every((property) => !property.required || property.name in value);
    case 'map':
      return isObject(value);
    case 'array':
      return Array.isArray(value);
    case 'enum':
      return node.values.includes(value);
    case 'constant':
      return value === node.value;
    case 'boolean':
      return typeof value === 'boolean';
    case 'number':
      return typeof value === 'number';
    case 'text':
      return typeof value === 'string' || (node.number && typeof value === 'number');
    default:
      return true;
  }
}

// The index of the alternative that the value has, by its type and its required members; 0 if none fits.
export function variantOf(value: Json, variants: readonly Variant[], root: Schema): number {
  const index = variants.findIndex((variant) => fits(value, variant.schema, root));
  return Math.max(0, index);
}

// A first value for a form: required members and items only.
export function firstValue(of: Schema, root: Schema): Json {
  const node = nodeOf(of, root);
  switch (node.kind) {
    case 'object':
      return Object.fromEntries(node.properties.filter((property) => property.required).map((property) => [property.name, firstValue(property.schema, root)]));
    case 'map':
      return {};
    case 'array':
      return Array.from({ length: node.least }, () => firstValue(node.items, root));
    case 'choice':
      return firstValue(node.variants[0]!.schema, root);
    case 'enum':
      return node.values[0]!;
    case 'constant':
      return node.value;
    case 'boolean':
      return true;
    case 'number':
      return node.minimum ?? 0;
    default:
      return '';
  }
}

// The text of a field as the value of a member that takes texts and numbers.
export function scalarOf(text: string, number: boolean): Json {
  return number && /^(0|[1-9][0-9]{0,14})$/.test(text) ? Number(text) : text;
}

// Where an error of the emulator is, 'rules[0].do.error', and what it says. Place '' without one.
export function placeOf(message: string): { place: string; text: string } {
  const match = /^([A-Za-z_$][\w$-]*(?:\[\d+\]|\.[\w$*-]+)*): (.+)$/s.exec(message);
  return match ? { place: match[1]!, text: match[2]! } : { place: '', text: message };
}

export function childPlace(place: string, name: string | number): string {
  if (typeof name === 'number') return `${place}[${name}]`;
  return place === '' ? name : `${place}.${name}`;
}
