/**
 * `/docs/`: the reference page, the page of codes, their script, the OpenAPI document as YAML and as JSON, and the JSON Schemas of the
 * files. No key is needed; only GET and HEAD are answered.
 */
import type { FastifyInstance } from 'fastify';
import type { CodeEntry } from '../../base/diagnostics/codes/code.ts';
import { CODE_AREAS, codeAnchor } from '../../base/diagnostics/codes/codes.ts';
import { html, type Markup } from '../../base/text/html.ts';
import {
  addOpen,
  FOREVER,
  FRESH,
  type OpenFile,
  once,
  openFile,
  sendFile,
} from '../../control/api/operation/open-files.ts';
import {
  fileSchema,
  SCHEMA_FILES,
  SCHEMA_NAMES,
  type SchemaName,
} from '../../workbench/simulation/field-reference.ts';
import { openDocuments, type PublishedDocuments } from './documents.ts';
import { inline } from './markup.ts';
import { SCRIPT } from './script.ts';
import { anchorOf, PAGE_POLICY, SCRIPT_FILE, shell } from './shell.ts';

/** Adds the routes to the server. The document is read at its first request; a failed read is tried again. */
export function addReference(app: FastifyInstance): void {
  let documents: Promise<Readonly<Record<keyof PublishedDocuments, OpenFile>>> | null = null;
  const document = async (kind: keyof PublishedDocuments): Promise<OpenFile> => {
    documents ??= openDocuments().then(fixedDocuments);
    try {
      return (await documents)[kind];
    } catch (error) {
      documents = null;
      throw error;
    }
  };
  const files: Readonly<Record<string, () => OpenFile | Promise<OpenFile>>> = {
    '/docs/': () => document('html'),
    '/docs/codes': once(() => page(codesPage())),
    '/docs/openapi.yaml': () => document('yaml'),
    '/docs/openapi.json': () => document('json'),
    [`/docs/${SCRIPT_FILE}`]: once(() =>
      openFile(SCRIPT, 'text/javascript; charset=utf-8', { 'cache-control': FOREVER }),
    ),
    ...Object.fromEntries(
      SCHEMA_NAMES.map((name) => [`/docs/${SCHEMA_FILES[name]}`, once(() => schemaFile(name))]),
    ),
  };
  for (const [path, file] of Object.entries(files)) {
    addOpen(app, path, async (request, reply) => sendFile(await file(), { request, reply }));
  }
  addOpen(app, '/docs', (_request, reply) => reply.redirect('/docs/', 308));
}

/** The responses for the forms of the document. */
function fixedDocuments({
  yaml,
  json,
  html,
}: PublishedDocuments): Readonly<Record<keyof PublishedDocuments, OpenFile>> {
  const headers = { 'cache-control': FRESH };
  return {
    yaml: openFile(yaml, 'application/yaml; charset=utf-8', headers),
    json: openFile(json, 'application/json; charset=utf-8', headers),
    html: page(html),
  };
}

/** A page, with its policy. */
function page(text: string): OpenFile {
  const policy = { 'content-security-policy': PAGE_POLICY, 'referrer-policy': 'no-referrer' };
  return openFile(text, 'text/html; charset=utf-8', { ...policy, 'cache-control': FRESH });
}

/** The JSON Schema of a file format, with CORS for every origin, since editors in a browser fetch it. */
function schemaFile(name: SchemaName): OpenFile {
  const headers = { 'cache-control': FRESH, 'access-control-allow-origin': '*' };
  return openFile(fileSchema(name), 'application/schema+json; charset=utf-8', headers);
}

// The page of codes: what each means and what to do about it, with an anchor for each.

/** The page. */
function codesPage(): string {
  return shell({
    title: 'Codes',
    current: 'codes',
    navigation: html`<div class="find"><label for="find">Find a code</label>
<input id="find" type="search" autocomplete="off" spellcheck="false" placeholder="unknown_field, path …"><p id="found" role="status"></p></div>
${CODE_AREAS.map(
  (area) =>
    html`<details><summary>${area.title}</summary><ul>${Object.keys(area.codes).map((code) => html`<li><a href="#${codeAnchor(area, code)}">${code}</a></li>`)}</ul></details>
`,
)}`,
    content: html`<header class="opening"><h1>Codes</h1>
<p>The code of a message says what is wrong independently of its wording: in brackets in the terminal, as <code>code</code> in JSON. <code>edgeplan codes unknown_field</code> prints the same.</p></header>
${CODE_AREAS.map(
  (area) =>
    html`<section class="tag" id="${anchorOf(area.title)}"><h2><a href="#${anchorOf(area.title)}">${area.title}</a></h2>
${Object.entries(area.codes).map(([code, entry]) => codeSection(codeAnchor(area, code), code, entry))}</section>
`,
)}`,
  });
}

function codeSection(anchor: string, code: string, entry: CodeEntry): Markup {
  const { severity, meaning, remedy } = entry;
  const mark = severity === null ? null : html`<span class="severity">${severity}</span>`;
  return html`<section class="entry" id="${anchor}"><h3><a href="#${anchor}"><code>${code}</code></a>${mark}</h3>
<p>${inline(meaning)}</p><p class="remedy">${inline(remedy)}</p></section>
`;
}
