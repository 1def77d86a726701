/**
 * Makes an example of a schema: its example, default, constant or first allowed value; else a value for the field's name
 * or type. A test checks every example against its schema.
 */

import { isJsonObject, type Json, type JsonObject } from '../../base/text/json-object.ts';
import { type ApiDocument, referredName, resolveSchema, type Schema } from './document.ts';

const TIME = '2026-11-20T09:30:00.000Z';
const DIGEST = '5f0f9d1f0c6c4e0a8f7c2d1b3a4e5d6c7b8a9f0e1d2c3b4a5f6e7d8c9b0a1f2e';

/** Values of fields whose type says too little, by name; they come from the ranges for documentation (RFC 2606, 5737). */
const BY_NAME: Readonly<Record<string, Json>> = {
  domain: 'example.com',
  host: 'shop.example.com',
  destination: '198.51.100.20',
  address: '198.51.100.30',
  alt_dest: '198.51.100.40',
  value: 'edgeplan-verification=4f1d2c3b',
  digest: DIGEST,
  country: 'DE',
  path: '/admin/users',
  target: '/new',
  reason: 'the rule matches',
  message: 'the entry matches no path',
  remedy: 'remove it',
  error: 'limit: must be a whole number, found `ten`',
  action: 'domain.update',
  at: TIME,
  from: TIME,
  to: TIME,
  updated_at: TIME,
  created_at: TIME,
};

/** Values of the entries of lists, by the name of the list. */
const ENTRIES: Readonly<Record<string, Json>> = {
  path_includes: '/api/*',
  path_excludes: '/api/health',
  host_includes: 'shop.example.com',
  host_excludes: 'old.example.com',
  ips: '203.0.113.0/24',
  countries: 'DE',
  bot_kinds: 'gptbot',
  sets: 'ns1.example.net',
  hosts: 'shop.example.com',
};

/** A request to simulate. */
const REQUEST: JsonObject = { url: 'https://shop.example.com/admin/users', ip: '203.0.113.7' };

/** Nesting that an example shows; deeper lists and objects are empty. */
const DEPTH = 12;

/** How an example is made. */
export interface SampleOptions {
  readonly document: ApiDocument;
  /** Examples of named schemas; they replace made ones. */
  readonly known?: ReadonlyMap<string, Json>;
  /** Leaves out fields that are not required: for requests. */
  readonly short?: boolean;
}

/** An example of a schema. */
export function sample(schema: Schema, options: SampleOptions): Json {
  return sampleAt(schema, { ...options, name: '', depth: 0 });
}

interface Place extends SampleOptions {
  readonly name: string;
  readonly depth: number;
}

function sampleAt(given: Schema, place: Place): Json {
  const example = given.$ref === undefined ? undefined : place.known?.get(referredName(given.$ref));
  if (example !== undefined) return example;
  const schema = resolveSchema(given, place.document);
  const known = schema.example ?? schema.const ?? schema.default;
  if (known !== undefined) return known;
  if (schema.enum !== undefined) return schema.enum.find((value) => value !== '') ?? schema.enum[0]!;
  if (schema.allOf !== undefined) return merged(schema.allOf.map((part) => sampleAt(part, place)));
  if (schema.anyOf !== undefined) return sampleAt(schema.anyOf[0]!, place);
  const type = typeof schema.type === 'string' ? schema.type : (schema.type?.[0] ?? 'object');
  if (type === 'object') return sampleObject(schema, place);
  if (type === 'array') return sampleList(schema, place);
  if (type === 'boolean') return true;
  if (type === 'string') return sampleText(schema, place);
  return Math.max(schema.minimum ?? 1, Math.min(schema.maximum ?? 1, 1));
}

function sampleObject(schema: Schema, place: Place): JsonObject {
  const { properties = {}, required = [], additionalProperties } = schema;
  if (place.name === 'request') return REQUEST;
  if (place.depth >= DEPTH) return {};
  const fields = Object.entries(properties)
    .filter(([name, field]) => required.includes(name) || (place.short !== true && field.deprecated !== true))
    .map(([name, field]) => [name, sampleAt(field, { ...place, name, depth: place.depth + 1 })]);
  if (fields.length > 0 || typeof additionalProperties !== 'object') return Object.fromEntries(fields);
  if (Object.keys(additionalProperties).length === 0) return {};
  const name = place.name.startsWith('content') ? '503' : 'shop.example.com';
  return { [name]: sampleAt(additionalProperties, { ...place, depth: place.depth + 1 }) };
}

function sampleList({ items, minItems = 0 }: Schema, place: Place): Json {
  if (items === undefined || (place.depth >= DEPTH && minItems === 0)) return [];
  const known = ENTRIES[place.name];
  const isText = items.type === 'string' && items.enum === undefined;
  return [known !== undefined && isText ? known : sampleAt(items, { ...place, depth: place.depth + 1 })];
}

function sampleText(schema: Schema, { name }: Place): Json {
  const { format, pattern, maxLength = Number.POSITIVE_INFINITY } = schema;
  if (format === 'date-time') return TIME;
  const last = name === 'name' ? 'shop' : '';
  const fits = (text: Json | undefined): text is string =>
    typeof text === 'string' &&
    text.length <= maxLength &&
    (pattern === undefined || new RegExp(pattern).test(text));
  // A word that is nothing but a word may be the field's name.
  return [BY_NAME[name], last, name].find(fits) ?? last;
}

function merged(parts: readonly Json[]): JsonObject {
  return Object.assign({}, ...parts.filter(isJsonObject));
}
