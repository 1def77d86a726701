/**
 * `/docs/`: the reference page, the page of codes, their script, the OpenAPI document as YAML and as JSON, and the JSON Schemas of the
 * files. No key is needed; only GET and HEAD are answered.
 */
import type { FastifyInstance } from 'fastify';
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
} from '../../workbench/simulation/file-schemas.ts';
import { codesPage } from './codes-page.ts';
import { openDocuments, type PublishedDocuments } from './documents.ts';
import { SCRIPT } from './script.ts';
import { PAGE_POLICY, SCRIPT_FILE } from './shell.ts';

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
