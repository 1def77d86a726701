/**
 * Translates `_redirects` and `_headers` of a site on Netlify or Cloudflare Pages to an edge file. The first line that matches a
 * request decides, as the first rule of a type does; what each product does otherwise is in its dialect.
 */
import { normalizeName } from '../../../base/addresses/host.ts';
import { addEntry, createDraft, type ImportDraft, markDifference, markMissing, tryRule } from '../draft.ts';
import { dropFields, type ImportedCondition, type ImportedFilter, ruleFields } from '../filter.ts';
import { finishDraft } from '../finish-draft.ts';
import { addAlternatives, addGuard } from '../guard.ts';
import type { Importer } from '../importer.ts';
import {
  type ImportedEdge,
  type ImporterOptions,
  type ImportRefusal,
  refusedImport,
  type SourceFile,
} from '../report.ts';
import { equalsText } from '../text-test.ts';
import { type HeaderLine, readSiteFiles } from './parse-site-files.ts';
import { readSitePattern, type SiteDialect } from './patterns.ts';
import { hostsOf, translateRedirect } from './translate-redirects.ts';

const NETLIFY_DIALECT: SiteDialect = {
  product: 'Netlify',
  status: 301,
  ignoresSlash: true,
  servesFiles: true,
  hasConditions: true,
  joinsHeaders: false,
};

const PAGES_DIALECT: SiteDialect = {
  product: 'Cloudflare Pages',
  status: 302,
  ignoresSlash: false,
  servesFiles: false,
  hasConditions: false,
  joinsHeaders: true,
};

const NOTES: readonly string[] = [
  'the origin is to serve the files of the site',
  'paths are compared decoded, without `//` and dot segments; a path with parameters (`/a;x`) also matches as `/a`',
  'headers are set on every answer; the product sets them on files alone',
];

const UNFORCED =
  'without `!` Netlify serves a file at the path of a line, where there is one; the edge redirects';

/** Translates the files of one product. */
export function importSiteFiles(
  files: readonly SourceFile[],
  options: ImporterOptions,
  dialect: SiteDialect = NETLIFY_DIALECT,
): ImportedEdge | ImportRefusal {
  const { redirects, headers, unread } = readSiteFiles(files);
  const domain = options.domain === null ? null : normalizeName(options.domain);
  const hosts = hostsOf(redirects, domain);
  if (options.domain === null && hosts.length === 0) {
    const message = 'the lines name no host';
    return refusedImport(files[0]?.name ?? null, message, 'name the domain: --domain example.com');
  }
  const draft = createDraft();
  for (const host of hosts) draft.hosts.set(host, null);
  const state = { draft, dialect, lines: redirects, taken: [], redirected: [] };
  for (const line of redirects) translateRedirect(state, line);
  for (const { place, text, reason } of unread) markMissing(addEntry(draft, place, text), reason);
  const earlier: HeaderLine[] = [];
  for (const line of headers) {
    translateHeader(draft, { line, dialect, earlier });
    earlier.push(line);
  }
  draft.notes.push(...NOTES, ...(dialect.servesFiles ? [UNFORCED] : []));
  return finishDraft(draft, { ...options, domain: options.domain ?? hosts[0]! });
}

interface PlacedHeader {
  readonly line: HeaderLine;
  readonly dialect: SiteDialect;
  readonly earlier: readonly HeaderLine[];
}

/** Translates one header of a block. */
function translateHeader(draft: ImportDraft, { line, dialect, earlier }: PlacedHeader): void {
  const { place, path, name, value } = line;
  const isSecret = name.toLowerCase() === 'basic-auth';
  const entry = addEntry(draft, place, isSecret ? `${path} ${name}: …` : `${path} ${line.text}`);
  const pattern = readSitePattern(path, dialect);
  if (typeof pattern === 'string') {
    markMissing(entry, pattern);
    return;
  }
  const of: ImportedCondition[] = [
    ...(pattern.host === null ? [] : [{ kind: 'host', tests: [equalsText(pattern.host)] } as const]),
    ...(pattern.isEvery ? [] : [{ kind: 'path', tests: pattern.tests } as const]),
  ];
  const rules = {
    condition: { kind: 'all', of } as const,
    differences: [],
    unmet: 'no request has such a path',
  };
  if (isSecret && dialect.servesFiles) {
    const emit = (filter: ImportedFilter): string | null => tryRule(draft, entry, 'drop', dropFields(filter));
    addGuard(draft, entry, { ...rules, closing: 'refused', emit, close: emit });
    markDifference(entry, 'the edge has no sign-in: every request is refused');
    return;
  }
  const isRepeated = earlier.some(
    (one) => one.name.toLowerCase() === name.toLowerCase() && one.value !== null,
  );
  const sameBlock = earlier.some((one) => one.path === path && one.name.toLowerCase() === name.toLowerCase());
  const op = isRepeated && (dialect.joinsHeaders || sameBlock) ? 'add' : 'set';
  const changes = value === null ? { remove: [name] } : { [op]: { [name]: value.replaceAll('$', '$$$$') } };
  addAlternatives(draft, entry, {
    ...rules,
    emit: (filter) => tryRule(draft, entry, 'headers', { ...ruleFields(filter), response: changes }),
  });
  if (entry.becomes.length === 0) return;
  if (value === null) markDifference(entry, 'a header of the origin is removed too');
  else if (op === 'add')
    markDifference(entry, 'the value becomes a line of its own, where the product joins both');
  else if (isRepeated)
    markDifference(entry, 'where several blocks match, the last in the file sets the header');
}

/** The importer of Netlify. */
export const NETLIFY: Importer = {
  name: 'netlify',
  files: '_redirects and _headers of the published folder; - is stdin',
  summary: 'translate _redirects and _headers of Netlify to an edge file',
  description:
    'Translates redirects and rewrites with splats, placeholders, parameters of the query, countries, languages and cookies, and ' +
    'the headers of paths.',
  examples: [
    'edgeplan import netlify public/_redirects --domain example.com -o edge.yaml',
    'edgeplan import netlify public/_redirects public/_headers --domain example.com --json',
  ],
  translate: (files, options) => importSiteFiles(files, options, NETLIFY_DIALECT),
};

/** The importer of Cloudflare Pages. */
export const CLOUDFLARE_PAGES: Importer = {
  name: 'cloudflare-pages',
  files: '_redirects and _headers of the published folder; - is stdin',
  summary: 'translate _redirects and _headers of Cloudflare Pages to an edge file',
  description: 'Translates redirects and rewrites with splats and placeholders, and the headers of paths.',
  examples: [
    'edgeplan import cloudflare-pages public/_redirects public/_headers --domain example.com -o edge.yaml',
  ],
  translate: (files, options) => importSiteFiles(files, options, PAGES_DIALECT),
};
