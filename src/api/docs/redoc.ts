/** Reads Redoc's files: the bundle of the reference page, and the licences of the code in it. */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { sha256Hex } from '../../platform/sha256.ts';

/** The files of Redoc. */
export interface Redoc {
  /** The script, without its one reference to another host. */
  readonly bundle: Buffer;
  /** The first 16 hex digits of the bundle's SHA-256, for its file name. */
  readonly digest: string;
  /** All licences as one text. */
  readonly licences: Buffer;
}

/** The one image that the bundle would fetch from another host; without it the page shows only the text beside it. */
const FOREIGN_PICTURE = 'https://cdn.redoc.ly/redoc/logo-mini.svg';

/**
 * The folder of the files: the build copies them beside this module; a run from the sources reads them from the
 * package.
 */
function folder(): URL {
  const beside = new URL('./redoc/', import.meta.url);
  if (existsSync(fileURLToPath(beside))) return beside;
  const require = createRequire(import.meta.url);
  return pathToFileURL(`${dirname(require.resolve('redoc/package.json'))}/`);
}

/** Files of licences: Redoc's own, those of the code in its bundle, and those of the search worker in it. */
const LICENCES = [
  'LICENSE',
  'bundles/redoc.standalone.js.LICENSE.txt',
  'bundles/d87bcbdbea8f8f5aa26f.worker.js.LICENSE.txt',
];

/** Reads the files of Redoc. */
export async function readRedoc(): Promise<Redoc> {
  const from = folder();
  const text = await readFile(new URL('bundles/redoc.standalone.js', from), 'utf8');
  const licences = await Promise.all(LICENCES.map((name) => readFile(new URL(name, from), 'utf8')));
  const bundle = Buffer.from(text.replace(FOREIGN_PICTURE, 'data:,'));
  const digest = sha256Hex(bundle).slice(0, 16);
  return { bundle, digest, licences: Buffer.from(licences.join('\n')) };
}
