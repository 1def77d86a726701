/**
 * Reads the OpenAPI document and its page, which the build has written; a run from the sources generates both from the
 * routes.
 */
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import type { JsonObject } from '../../base/text/json-object.ts';
import type { Documents } from '../../control/api/openapi.ts';
import { referencePage } from './reference.ts';

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
