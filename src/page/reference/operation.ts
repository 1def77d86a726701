/** Renders one operation: its place, parameters, body and responses on one side, examples on the other. */
import { type Content, html, type Markup } from '../../base/text/html.ts';
import { isJsonObject, type Json } from '../../base/text/json-object.ts';
import { codeBlock, curl, json } from './code.ts';
import {
  type ApiDocument,
  type ApiOperation,
  type ContentTypes,
  type Parameter,
  type ResponseObject,
  referredName,
  resolveSchema,
  type Schema,
} from './document.ts';
import { fieldsOf, rows } from './fields.ts';
import type { Homes } from './homes.ts';
import { inline } from './markdown.ts';
import { sample } from './sample.ts';
import { typeText } from './type-text.ts';

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
