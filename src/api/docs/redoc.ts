/** Redoc's files: the bundle the reference page runs, and the licences of what is in it. */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { sha256Hex } from '../../platform/sha256.ts';

export interface Redoc {
  readonly bundle: Buffer;
  /** Of the bundle's SHA-256, enough to name it by. */
  readonly digest: string;
  readonly licences: Buffer;
}

/** The one picture the bundle would fetch from elsewhere; without it a text stands alone. */
const FOREIGN_PICTURE = 'https://cdn.redoc.ly/redoc/logo-mini.svg';

/** The build puts the files beside this one; a run from the sources takes them from the package they come in. */
function folder(): URL {
  const beside = new URL('./redoc/', import.meta.url);
  if (existsSync(fileURLToPath(beside))) return beside;
  const require = createRequire(import.meta.url);
  return pathToFileURL(`${dirname(require.resolve('redoc/package.json'))}/`);
}

/** Redoc's own licence, those of what its bundle holds, and those of the search worker inside it. */
const LICENCES = [
  'LICENSE',
  'bundles/redoc.standalone.js.LICENSE.txt',
  'bundles/d87bcbdbea8f8f5aa26f.worker.js.LICENSE.txt',
];

/** Reads them. */
export async function readRedoc(): Promise<Redoc> {
  const from = folder();
  const text = await readFile(new URL('bundles/redoc.standalone.js', from), 'utf8');
  const licences = await Promise.all(LICENCES.map((name) => readFile(new URL(name, from), 'utf8')));
  const bundle = Buffer.from(text.replace(FOREIGN_PICTURE, 'data:,'));
  const digest = sha256Hex(bundle).slice(0, 16);
  return { bundle, digest, licences: Buffer.from(licences.join('\n')) };
}
