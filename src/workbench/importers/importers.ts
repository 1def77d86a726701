/** The products whose rules can be translated, in the order of the help. A product has a folder and an entry here. */
import { HTACCESS } from './apache/import-htaccess.ts';
import { BUNNY } from './bunny/import-bunny.ts';
import { CLOUDFLARE } from './cloudflare/import-cloudflare.ts';
import { FASTLY } from './fastly/import-fastly.ts';
import { HAPROXY } from './haproxy/import-haproxy.ts';
import type { Importer } from './importer.ts';
import { INGRESS } from './ingress/import-ingress.ts';
import { CLOUDFLARE_PAGES, NETLIFY } from './netlify/import-netlify.ts';
import { NGINX } from './nginx/import-nginx.ts';

/** The importers. */
export const IMPORTERS: readonly Importer[] = [
  NGINX,
  HTACCESS,
  HAPROXY,
  INGRESS,
  CLOUDFLARE,
  BUNNY,
  FASTLY,
  NETLIFY,
  CLOUDFLARE_PAGES,
];
