/** Reads the OpenAPI document that the build has written; a run from the sources generates it from the routes. */
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import type { Documents } from '../openapi.ts';

/** The files beside the built module. */
const YAML = new URL('./openapi.yaml', import.meta.url);
const JSON_FORM = new URL('./openapi.json', import.meta.url);

/** Reads the document, or generates it: half a second of work. */
export async function openDocuments(): Promise<Documents> {
  if (!existsSync(YAML)) return generateDocuments();
  const [yaml, json] = await Promise.all([readFile(YAML, 'utf8'), readFile(JSON_FORM, 'utf8')]);
  return { yaml, json };
}

/** A step of the build: writes both forms beside this file. */
export async function writeDocuments(): Promise<void> {
  const { yaml, json } = await generateDocuments();
  await Promise.all([writeFile(YAML, yaml), writeFile(JSON_FORM, json)]);
}

/** Generates the document. The imports are dynamic, so that a built server loads no generator. */
async function generateDocuments(): Promise<Documents> {
  const [{ documentRoutes }, { ROUTES }] = await Promise.all([
    import('../openapi.ts'),
    import('../routes.ts'),
  ]);
  return documentRoutes(ROUTES);
}
