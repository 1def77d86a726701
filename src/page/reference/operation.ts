/** Renders one operation: its place, parameters, body and responses on one side, examples on the other. */
import { type Content, html, type Markup } from '../../base/text/html.ts';
import { isJsonObject, type Json, type JsonObject } from '../../base/text/json-object.ts';
import {
  type ApiDocument,
  type ApiOperation,
  type ContentTypes,
  type Homes,
  type Parameter,
  type ResponseObject,
  referredName,
  resolveSchema,
  type Schema,
} from './document.ts';
import { fieldsOf, rows, typeText } from './fields.ts';
import { codeBlock, curl, inline, json } from './markup.ts';

/** What all operations share. */
export interface ReferenceContext {
  readonly document: ApiDocument;
  readonly homes: Homes;
  /** Examples of request bodies, by the name of their schema. */
  readonly examples: ReadonlyMap<string, Json>;
}

/** The section of an operation. */
export function operationSection(operation: ApiOperation, context: ReferenceContext): Markup {
  const { operationId: id, summary, description } = operation;
  const body = requestExample(operation, context);
  return html`<section class="operation" id="${id}" aria-labelledby="${id}-title">
<div class="text"><h3 id="${id}-title"><a href="#${id}">${inline(summary)}</a></h3>
${place(operation)}
<p>${inline(description)}</p>
${parameters(operation)}${requestBody(operation, context)}${responses(operation, context)}</div>
<div class="samples">${codeBlock('Request', curl(operation, body))}${responseExample(operation, body, context)}</div>
</section>
`;
}

/** Method and path, the parameters of the path marked. */
export function place({ method, path }: Pick<ApiOperation, 'method' | 'path'>): Markup {
  const parts = path
    .split(/(\{\w+\})/)
    .map((part, index) => (index % 2 === 1 ? html`<var>${part}</var>` : part));
  return html`<p class="place">${methodBadge(method)} <code>${parts}</code></p>`;
}

/** The method in its colour. */
export function methodBadge(method: string): Markup {
  return html`<span class="method ${method.toLowerCase()}">${method}</span>`;
}

const PARAMETER_GROUPS = [
  ['path', 'In the path'],
  ['query', 'In the query'],
  ['header', 'Headers'],
] as const;

function parameters({ operationId, parameters: all = [] }: ApiOperation): Content {
  return PARAMETER_GROUPS.map(([where, title]) => {
    const list = all.filter((one) => one.in === where);
    if (list.length === 0) return null;
    return html`<h4>${title}</h4>${rows(list.map((one) => parameterRow(one, `${operationId}.${where}`)))}`;
  });
}

function parameterRow({ name, schema, required = false, description }: Parameter, above: string) {
  return { id: `${above}.${name}`, name, schema, required, description };
}

function requestBody({ operationId: id, requestBody }: ApiOperation, context: ReferenceContext): Content {
  if (requestBody === undefined) return null;
  const { types, schema } = contentOf(requestBody.content);
  const optional = requestBody.required === true ? '' : ', optional';
  return html`<h4>Body</h4><p class="content"><code>${types}</code>${optional}: <span class="type">${typeText(schema)}</span></p>
${fieldsHere(schema, `${id}.body`, context)}`;
}

/** The content types of a body, and the schema that all of them share. */
function contentOf(content: ContentTypes): { readonly types: string; readonly schema: Schema } {
  const [first] = Object.values(content);
  return { types: Object.keys(content).join(', '), schema: first?.schema ?? {} };
}

/** The fields of a schema; nothing for a named schema that has its place elsewhere. */
function fieldsHere(schema: Schema, id: string, { document, homes }: ReferenceContext): Markup | null {
  const inner = schema.items ?? schema;
  if (inner.$ref === undefined) {
    const isPlain = inner.properties === undefined && inner.anyOf === undefined && inner.allOf === undefined;
    return isPlain ? null : fieldsOf(schema, id);
  }
  const name = referredName(inner.$ref);
  if (homes.get(name) !== id) return null;
  return html`<div id="${name}">${fieldsOf(resolveSchema(inner, document), name)}</div>`;
}

function responses(operation: ApiOperation, context: ReferenceContext): Markup {
  const all = Object.entries(operation.responses);
  const successes = all.filter(([status]) => status.startsWith('2'));
  const refusals = all.filter(([status]) => !status.startsWith('2'));
  return html`<h4>Response</h4>${successes.map(([status, one]) => success(status, one, { operation, context }))}
<p class="refusals">Refusals: ${refusals.map(([status, { $ref = '' }]) => refusal(status, $ref, context))}</p>`;
}

function success(
  status: string,
  response: ResponseObject,
  { operation, context }: { readonly operation: ApiOperation; readonly context: ReferenceContext },
): Markup {
  const badge = html`<span class="status">${status}</span>`;
  if (response.content === undefined) return html`<p class="content">${badge} without a body</p>`;
  const { types, schema } = contentOf(response.content);
  const fields = fieldsHere(schema, `${operation.operationId}.${status}`, context);
  return html`<p class="content">${badge} <code>${types}</code>: <span class="type">${typeText(schema)}</span></p>
${fields === null ? null : html`<details class="answer"><summary>Fields of the response</summary>${fields}</details>`}`;
}

function refusal(status: string, $ref: string, { document }: ReferenceContext): Markup {
  const name = referredName($ref);
  const title = document.components.responses[name]?.description ?? '';
  return html`<a class="status" href="#${name}" title="${title}">${status}</a> `;
}

/** The JSON body of the example request; `null` without one. */
function requestExample(
  { requestBody }: ApiOperation,
  { document, examples }: ReferenceContext,
): Json | null {
  const content = requestBody?.content['application/json'];
  if (content === undefined) return null;
  return content.example ?? sample(content.schema, { document, known: examples, short: true });
}

/** The example of the response: fields that the request sets have the request's values. */
function responseExample(
  operation: ApiOperation,
  body: Json | null,
  { document }: ReferenceContext,
): Content {
  const success = Object.entries(operation.responses).find(([status]) => status.startsWith('2'));
  const content = success?.[1].content?.['application/json'];
  if (success === undefined || content === undefined) return null;
  const made = sample(content.schema, { document });
  if (!isJsonObject(made) || !isJsonObject(body)) return codeBlock(`Response ${success[0]}`, json(made));
  const sent = Object.entries(body).filter(([name]) => Object.hasOwn(made, name));
  return codeBlock(`Response ${success[0]}`, json({ ...made, ...Object.fromEntries(sent) }));
}

// Makes an example of a schema: its example, default, constant or first allowed value; else a value for the field's name
// or type. A test checks every example against its schema.

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
  key_parts: 'ip',
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
  // A named part of several objects, such as the conditions of rules, has an example of the whole.
  if (given.$ref !== undefined && schema.examples?.[0] !== undefined) return schema.examples[0];
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
  // Of a headers rule it is something else.
  if (place.name === 'request' && properties['set'] === undefined) return REQUEST;
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
