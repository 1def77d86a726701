/**
 * Reads the OpenAPI document and its page, which the build has written; a run from the sources generates both from the
 * routes.
 */
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import type { Documents } from '../openapi.ts';

/** The files beside the built module, by form. */
const FILES: Readonly<Record<keyof Documents, URL>> = {
  yaml: new URL('./openapi.yaml', import.meta.url),
  json: new URL('./openapi.json', import.meta.url),
  html: new URL('./reference.html', import.meta.url),
};

/** Reads all forms, or generates them: half a second of work. */
export async function openDocuments(): Promise<Documents> {
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
async function generateDocuments(): Promise<Documents> {
  const [{ documentRoutes }, { ROUTES }] = await Promise.all([
    import('../openapi.ts'),
    import('../routes.ts'),
  ]);
  return documentRoutes(ROUTES);
}
