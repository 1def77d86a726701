/**
 * Translates `.htaccess` files, and virtual hosts, of Apache httpd to an edge file. Read this file first: it finds the folder of each
 * file and the hosts, and runs the directives of a folder in the order in which Apache does: variables, access control, rewrite
 * rules, redirects, headers.
 */
import { normalizeName } from '../../../base/addresses/host.ts';
import { createDraft, markMissing } from '../draft.ts';
import { finishDraft } from '../finish-draft.ts';
import type { Importer } from '../importer.ts';
import {
  type ImportedEdge,
  type ImporterOptions,
  type ImportRefusal,
  refusedImport,
  type SourceFile,
} from '../report.ts';
import { ACCESS_DIRECTIVES } from './access.ts';
import {
  type ApacheImport,
  type ApacheScope,
  allOf,
  anyOf,
  EVERY,
  entryFor,
  unknownTest,
} from './context.ts';
import { ANSWER_DIRECTIVES, translateAnswer } from './headers.ts';
import { type ApacheDirective, parseApache } from './parse-htaccess.ts';
import { ALIAS_REDIRECTS, translateRedirects } from './redirects.ts';
import { translateRewrites } from './rewrite.ts';
import {
  type AccessLevel,
  accessLevel,
  folderRequests,
  readSection,
  refuseLevels,
  type SectionRequests,
} from './sections.ts';
import { readVariables, translateSetting, VARIABLE_DIRECTIVES } from './settings.ts';
import { findHosts, originOfHost, translateProxies, virtualHosts } from './virtual-hosts.ts';
import { refuseWritten } from './written-paths.ts';

const NOTES: readonly string[] = [
  'hosts for which the file has no record are answered 421; Apache answers every host. Add records for more hosts',
  'the origin is to serve the files: rules that ask whether a file exists are the origin’s',
  'paths are compared decoded, without `//` and dot segments; unlike Apache, a path with parameters (`/a;x`) also matches as `/a`',
  'groups enter a target as the visitor sent them; Apache decodes and encodes them again (`%2B` becomes `+`)',
  'a redirect to the URL of the request itself is skipped; Apache answers it, again and again',
  '`<IfModule>` is read as if every module were loaded, and `!` before a module as if none were missing',
];

/** Translates the files. */
export function importHtaccess(
  files: readonly SourceFile[],
  options: ImporterOptions,
): ImportedEdge | ImportRefusal {
  const folders = foldersOf(files.map(({ name }) => name));
  const parsed: { readonly base: string; readonly directives: readonly ApacheDirective[] }[] = [];
  for (const [index, file] of files.entries()) {
    const one = parseApache(file);
    if (!one.ok) return one;
    parsed.push({ base: folders[index]!, directives: one.directives });
  }
  const all = parsed.flatMap(({ directives }) => directives);
  const domain = options.domain === null ? null : normalizeName(options.domain);
  if (options.domain !== null && domain === null)
    return refusedImport(null, `\`${options.domain}\` is no domain name`, 'name it: --domain example.com');
  const hosts = findHosts(all, domain);
  if (hosts.length === 0)
    return refusedImport(
      files[0]?.name ?? null,
      'an `.htaccess` names no host of its own',
      'name the domain: --domain example.com',
    );
  const draft = createDraft();
  const documentRoots = all
    .flatMap(({ name, block }) => (name === 'virtualhost' ? (block ?? []) : []))
    .filter(({ name }) => name === 'documentroot')
    .map(({ args }) => (args[0] ?? '').replace(/\/$/, ''));
  const indexes = indexesOf(all);
  const lists = { guards: [], written: [], redirects: [] };
  const state: ApacheImport = { draft, hosts, documentRoots, indexes, environment: new Map(), ...lists };
  for (const host of hosts) draft.hosts.set(host, originOfHost(all, host));
  // A folder follows those around it, and replaces what they say.
  const sorted = parsed.sort((one, other) => one.base.length - other.base.length);
  const blocks = sorted.flatMap(({ base, directives }): readonly PlacedBlock[] => {
    const { hosted, plain } = virtualHosts(state, directives);
    const folder = { base, perDirectory: true, condition: folderRequests(base), inSection: false };
    return [
      ...hosted.map(({ directives: block, condition }) => ({
        block,
        scope: { base: '/', perDirectory: false, condition, inSection: false },
      })),
      ...(plain.length === 0 ? [] : [{ block: plain, scope: folder }]),
    ];
  });
  translateBlocks(state, blocks);
  draft.notes.push(...NOTES);
  sortEntries(state, all);
  return finishDraft(draft, options);
}

/** Files that answer for their folder. */
function indexesOf(directives: readonly ApacheDirective[]): readonly string[] {
  const named = directives.filter(({ name }) => name === 'directoryindex').flatMap(({ args }) => args);
  const files = named.filter((name) => !name.includes('/') && name !== 'disabled');
  return files.length === 0 ? ['index.html', 'index.php'] : [...new Set(files)];
}

/** Directives, and where they act. */
interface PlacedBlock {
  readonly block: readonly ApacheDirective[];
  readonly scope: ApacheScope;
}

/** Translates all in the order in which Apache asks: the rules of servers, access control, the rules of folders. */
function translateBlocks(state: ApacheImport, blocks: readonly PlacedBlock[]): void {
  const levels = blocks.flatMap((one) => collectLevels(state, one, null));
  for (const one of blocks) if (!one.scope.perDirectory) translateBlock(state, one);
  refuseLevels(state, levels);
  for (const one of blocks) if (one.scope.perDirectory) translateBlock(state, one);
  refuseWritten(state);
}

/** The entries in the order of the source. */
function sortEntries({ draft }: ApacheImport, directives: readonly ApacheDirective[]): void {
  const places = new Map<string, number>();
  const visit = (list: readonly ApacheDirective[]): void => {
    for (const { place, block } of list) {
      places.set(place, places.size);
      visit(block ?? []);
    }
  };
  visit(directives);
  draft.entries.sort((one, other) => (places.get(one.place) ?? 0) - (places.get(other.place) ?? 0));
}

/** The path of the folder of each file below that of the first of them, which is the document root. */
function foldersOf(names: readonly string[]): readonly string[] {
  const folders = names.map((name) => name.replaceAll('\\', '/').split('/').slice(0, -1));
  const root = folders.reduce((one, other) => (other.length < one.length ? other : one), folders[0] ?? []);
  return folders.map((folder) => {
    const isBelow = root.every((part, index) => folder[index] === part);
    const rest = isBelow ? folder.slice(root.length) : [];
    return rest.length === 0 ? '/' : `/${rest.join('/')}/`;
  });
}

const CONTAINERS = [
  'files',
  'filesmatch',
  'if',
  'elseif',
  'else',
  'location',
  'locationmatch',
  'directory',
  'directorymatch',
];

/** A section of a block. */
interface ReadBlockSection {
  readonly directive: ApacheDirective;
  readonly requests: SectionRequests;
  readonly inner: PlacedBlock;
}

/** The sections of a block, each with its requests. */
function sectionsOf(state: ApacheImport, { block, scope }: PlacedBlock): readonly ReadBlockSection[] {
  let before: SectionRequests['condition'] | null = null;
  return block.flatMap((directive) => {
    if (directive.block === null || !CONTAINERS.includes(directive.name)) return [];
    const one = readBlockSection(state, directive, { scope, before });
    if (directive.name === 'if') before = one.own;
    else before = directive.name === 'elseif' && before !== null ? anyOf([before, one.own]) : null;
    return [one];
  });
}

/** Reads the variables of a block and of its sections, and their access control, the outer first. */
function collectLevels(
  state: ApacheImport,
  placed: PlacedBlock,
  section: ReadBlockSection | null,
): readonly AccessLevel[] {
  const { block, scope } = placed;
  for (const one of block) if (VARIABLE_DIRECTIVES.includes(one.name)) readVariables(state, scope, one);
  const plain = { condition: scope.condition, differences: [], isWide: false };
  const requests = section?.requests ?? plain;
  const level = accessLevel(state, block, { requests, section: section?.directive ?? null });
  const inner = sectionsOf(state, placed).flatMap((one) => collectLevels(state, one.inner, one));
  return level === null ? inner : [level, ...inner];
}

/** Translates the other directives of a folder or section, and those of the sections in it. */
function translateBlock(state: ApacheImport, placed: PlacedBlock): void {
  const { block, scope } = placed;
  translateRewrites(
    state,
    scope,
    block.filter(({ name }) => name.startsWith('rewrite')),
  );
  translateRedirects(state, scope, block);
  translateProxies(state, scope, block);
  for (const one of block) {
    if (ANSWER_DIRECTIVES.includes(one.name)) translateAnswer(state, scope, one);
    else if (one.block === null && !isHandled(one)) translateSetting(state, scope, one);
    else if (one.block !== null && !ACCESS_DIRECTIVES.includes(one.name) && !CONTAINERS.includes(one.name))
      markMissing(entryFor(state, one), `\`<${one.name}>\` is a section without an equivalent`);
  }
  for (const { inner } of sectionsOf(state, placed)) translateBlock(state, inner);
}

function isHandled({ name }: ApacheDirective): boolean {
  const lists = [VARIABLE_DIRECTIVES, ACCESS_DIRECTIVES, ALIAS_REDIRECTS, ANSWER_DIRECTIVES, HOST_DIRECTIVES];
  return (
    name === 'rewriteengine' ||
    name === 'rewritebase' ||
    /^rewrite(?:rule|cond)$/.test(name) ||
    lists.some((list) => list.includes(name))
  );
}

/** Directives of a virtual host that records and origins are made of. */
const HOST_DIRECTIVES = ['servername', 'serveralias', 'proxypass', 'proxypassmatch'];

/** Reads a section; `own`: its condition, which an `<Else>` behind it excludes. */
function readBlockSection(
  state: ApacheImport,
  directive: ApacheDirective,
  { scope, before }: { readonly scope: ApacheScope; readonly before: SectionRequests['condition'] | null },
): ReadBlockSection & { readonly own: SectionRequests['condition'] } {
  const { name, args, block, text } = directive;
  const isFolder = name === 'directory';
  const root = isFolder ? folderOf(args[0] ?? '', state) : null;
  const exact = { differences: [], isWide: false };
  const read =
    root !== null
      ? { ...exact, condition: folderRequests(root) }
      : isFolder || name === 'directorymatch'
        ? { ...exact, condition: unknownTest(text, 'is a folder outside the document root') }
        : readSection(state, directive, { base: scope.base, before });
  // Tests of files have the folder in them already.
  const around = scope.inSection || !name.startsWith('files') || scope.base === '/' ? scope.condition : EVERY;
  const condition = allOf([around, read.condition]);
  const inner = {
    ...scope,
    condition,
    inSection: !isFolder,
    ...(root === null ? {} : { perDirectory: true, base: root }),
  };
  return {
    directive,
    requests: { ...read, condition },
    inner: { block: block!, scope: inner },
    own: read.condition,
  };
}

/** The path of a folder of the disk below the document root; `null`: it is outside. */
function folderOf(folder: string, { documentRoots }: ApacheImport): string | null {
  const path = folder.replace(/\/$/, '');
  const root = documentRoots.find((one) => path === one || path.startsWith(`${one}/`));
  return root === undefined ? null : `${path.slice(root.length)}/`;
}

/** The importer of Apache httpd. */
export const HTACCESS: Importer = {
  name: 'htaccess',
  files: '.htaccess of the document root, those of folders below it, or a virtual host; - is stdin',
  summary: 'translate .htaccess files of Apache httpd to an edge file',
  description:
    'Translates Redirect, RewriteRule with its conditions, Require, Order, Allow and Deny, SetEnvIf, Header, and sections of files, ' +
    'paths and expressions. Of several files, the folder of the first level is the document root.',
  examples: [
    'edgeplan import htaccess public/.htaccess --domain example.com -o edge.yaml',
    'edgeplan import htaccess public/.htaccess public/wp-admin/.htaccess --domain example.com --json',
  ],
  translate: importHtaccess,
};
