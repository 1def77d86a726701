/**
 * The files of the page as a server answers them. In: the folder that `npm run build` writes. Out: each file with its type, and the
 * headers of every answer: nothing but this server's own files runs, loads or is asked, and no other site frames the page.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Where the page's plans come from: the file of `edgeplan play`, or the management API. */
export type PanelSource = 'play' | 'api';

/** Where the API process serves the page. */
export const PANEL_PATH = '/panel/';

/** A file of the page. */
export interface PanelFile {
  readonly type: string;
  readonly body: Buffer;
}

/** Types by the extension of a file. */
const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
};

/** The policy of the page (CSP Level 3), in the order of its directives. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

/** Headers of the page and its files. */
export const PANEL_HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy': POLICY,
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=()',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
};

/** The folder of the built page. */
const FOLDER = fileURLToPath(new URL('./page/', import.meta.url));

/**
 * Reads the files by name; `index.html` names the source of plans.
 * @throws a system error when the page was not built
 */
export function readPanel(source: PanelSource, folder = FOLDER): ReadonlyMap<string, PanelFile> {
  const names = readdirSync(folder).filter((name) => extname(name) in TYPES);
  return new Map(
    names.map((name) => {
      const read = readFileSync(join(folder, name));
      const body =
        name === 'index.html' ? Buffer.from(read.toString('utf8').replace('{source}', source)) : read;
      return [name, { type: TYPES[extname(name)]!, body }];
    }),
  );
}
