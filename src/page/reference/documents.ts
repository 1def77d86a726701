/**
 * Reads the OpenAPI document and its page, which the build has written; a run from the sources generates both from the
 * routes.
 */
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { type Content, html, type Markup } from '../../base/text/html.ts';
import type { Json, JsonObject } from '../../base/text/json-object.ts';
import type { Documents } from '../../control/api/openapi.ts';
import {
  type ApiDocument,
  type ApiOperation,
  apiDocument,
  homesOf,
  operationsOf,
  referredName,
} from './document.ts';
import { fieldsOf, rows } from './fields.ts';
import { codeBlock, inline, json, type MarkdownPart, markdownParts } from './markup.ts';
import { operationSection, type ReferenceContext } from './operation.ts';
import { anchorOf, navigation, shell } from './shell.ts';

// Renders the OpenAPI document as one static page. In: the polished document. Out: HTML that needs no script.
//
// Of the libraries for OpenAPI 3.1, Redoc, Scalar, RapiDoc and Elements render in the browser, with 0.8 to 3 MB of script
// and seconds before the first heading; Redocly's `build-docs` writes the page of Redoc together with that script, and
// Widdershins reads OpenAPI 3.0 alone.

const REFUSALS = 'Refusals';
const SHARED = 'Shared objects';

/** The page. */
export function referencePage(given: JsonObject): string {
  const document = apiDocument(given);
  const all = operationsOf(document);
  const operations = new Map(
    document.tags.map(({ name }) => [name, all.filter(({ tags }) => tags.includes(name))]),
  );
  const context: ReferenceContext = { document, homes: homesOf(document), examples: examplesOf(all) };
  const [opening, ...parts] = markdownParts(document.info.description);
  const introduction = parts.map(({ heading }) => heading!);
  return shell({
    title: document.info.title,
    current: 'reference',
    navigation: navigation({ document, introduction, operations, appendix: [REFUSALS, SHARED] }),
    content: html`<header class="opening"><h1>${document.info.title} <span class="version">${document.info.version}</span></h1>
${opening!.body}</header>
${parts.map(introductionPart)}
${document.tags.map((tag) => tagSection(tag, operations.get(tag.name)!, context))}
${refusalsSection(document, statusesOf(all))}
${sharedSection(context)}`,
  });
}

/** Examples of request bodies by the name of their schema. */
function examplesOf(operations: readonly ApiOperation[]): ReadonlyMap<string, Json> {
  const found = new Map<string, Json>();
  for (const { requestBody } of operations) {
    const { schema, example } = requestBody?.content['application/json'] ?? { schema: {} };
    if (schema.$ref !== undefined && example !== undefined) found.set(referredName(schema.$ref), example);
  }
  return found;
}

function introductionPart({ heading, body }: MarkdownPart): Markup {
  return html`<section class="prose" id="${anchorOf(heading!)}"><h2><a href="#${anchorOf(heading!)}">${heading}</a></h2>${body}</section>
`;
}

function tagSection(
  { name, description = '' }: ApiDocument['tags'][number],
  operations: readonly ApiOperation[],
  context: ReferenceContext,
): Markup {
  const id = anchorOf(name);
  return html`<section class="tag" id="${id}"><h2><a href="#${id}">${name}</a></h2><p>${inline(description)}</p>
${operations.map((operation) => operationSection(operation, context))}</section>
`;
}

/** The status of each named response. */
function statusesOf(operations: readonly ApiOperation[]): ReadonlyMap<string, string> {
  const pairs = operations.flatMap(({ responses }) =>
    Object.entries(responses).map(([status, { $ref }]) => [$ref, status] as const),
  );
  return new Map(pairs.map(([$ref, status]) => [referredName($ref ?? ''), status]));
}

/** Every refusal once: when it comes, what it says, its headers. */
function refusalsSection({ components }: ApiDocument, statuses: ReadonlyMap<string, string>): Markup {
  const id = anchorOf(REFUSALS);
  const sections = Object.entries(components.responses).map(
    ([name, { description = '', headers, content }]) => {
      const example = content?.['application/json']?.example;
      const headerRows = Object.entries(headers ?? {}).map(([header, one]) => ({
        id: `${name}.${header}`,
        name: header,
        required: true,
        schema: one.schema,
        description: one.description,
      }));
      return html`<section class="operation small" id="${name}"><div class="text"><h3><a href="#${name}"><span class="status">${statuses.get(name) ?? null}</span> ${spaced(name)}</a></h3>
<p>${inline(description)}</p>${headerRows.length === 0 ? null : rows(headerRows)}</div>
<div class="samples">${example === undefined ? null : codeBlock('Response', json(example))}</div></section>
`;
    },
  );
  return html`<section class="tag" id="${id}"><h2><a href="#${id}">${REFUSALS}</a></h2>
<p>The body of every refusal is <a class="schema" href="#Error">Error</a>. Each operation lists the statuses that it can refuse with.</p>${sections}</section>`;
}

/** `NotPublishedInTime` → `Not published in time`. */
function spaced(name: string): string {
  return name.replaceAll(/(?<=[a-z])[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}

/** The named schemas that no single body shows. */
function sharedSection({ document, homes }: ReferenceContext): Content {
  const id = anchorOf(SHARED);
  const shared = Object.entries(document.components.schemas).filter(([name]) => !homes.has(name));
  return html`<section class="tag" id="${id}"><h2><a href="#${id}">${SHARED}</a></h2>
${shared.map(
  ([name, schema]) =>
    html`<section class="object" id="${name}"><h3><a href="#${name}">${name}</a></h3>${fieldsOf(schema, name)}</section>
`,
)}</section>`;
}

/** The document in the forms that a server publishes. */
export interface PublishedDocuments extends Documents {
  /** The reference page. */
  readonly html: string;
}

/** The files beside the built module, by form. */
const FILES: Readonly<Record<keyof PublishedDocuments, URL>> = {
  yaml: new URL('./openapi.yaml', import.meta.url),
  json: new URL('./openapi.json', import.meta.url),
  html: new URL('./reference.html', import.meta.url),
};

/** Reads all forms, or generates them: half a second of work. */
export async function openDocuments(): Promise<PublishedDocuments> {
  if (!existsSync(FILES.html)) return generateDocuments();
  const [yaml, json, html] = await Promise.all([
    readFile(FILES.yaml, 'utf8'),
    readFile(FILES.json, 'utf8'),
    readFile(FILES.html, 'utf8'),
  ]);
  return { yaml, json, html };
}

/** A step of the build: writes all forms beside this file. */
export async function writeDocuments(): Promise<void> {
  const { yaml, json, html } = await generateDocuments();
  await Promise.all([writeFile(FILES.yaml, yaml), writeFile(FILES.json, json), writeFile(FILES.html, html)]);
}

/** Generates the document. The imports are dynamic, so that a built server loads no generator. */
async function generateDocuments(): Promise<PublishedDocuments> {
  const [{ documentRoutes }, { ROUTES }] = await Promise.all([
    import('../../control/api/openapi.ts'),
    import('../../control/api/routes.ts'),
  ]);
  const { yaml, json } = await documentRoutes(ROUTES);
  return { yaml, json, html: referencePage(JSON.parse(json) as JsonObject) };
}
