/**
 * Translates `.htaccess` files, and virtual hosts, of Apache httpd to an edge file. Read this file first: it finds the folder of each
 * file and the hosts, and runs the directives of a folder in the order in which Apache does: variables, access control, rewrite
 * rules, redirects, headers.
 */
import { normalizeName } from '../../../base/addresses/host.ts';
import { createDraft, type DraftOrigin, finishDraft, markMissing } from '../draft.ts';
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
import { refuseWritten, translateRewrites } from './rewrite.ts';
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

const NOTES: readonly string[] = [
  'hosts for which the file has no record are answered 421; Apache answers every host. Add records for more hosts',
  'the origin is to serve the files: rules that ask whether a file exists are the origin’s',
  'paths are compared decoded, without `//` and dot segments; unlike Apache, a path with parameters (`/a;x`) also matches as `/a`',
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
  const lists = { guards: [], written: [], redirects: [] };
  const state: ApacheImport = { draft, hosts, documentRoots, environment: new Map(), ...lists };
  for (const host of hosts) draft.hosts.set(host, originOfHost(all, host) as DraftOrigin | null);
  const levels: AccessLevel[] = [];
  // A folder follows those around it, and replaces what they say.
  for (const { base, directives } of parsed.sort((one, other) => one.base.length - other.base.length)) {
    const { hosted, plain } = virtualHosts(state, directives);
    for (const { directives: own, condition } of hosted)
      translateBlock(state, own, { base: '/', perDirectory: false, condition, inSection: false }, levels);
    const scope = { base, perDirectory: true, condition: folderRequests(base), inSection: false };
    if (plain.length > 0) translateBlock(state, plain, scope, levels);
  }
  refuseLevels(state, levels);
  refuseWritten(state);
  draft.notes.push(...NOTES);
  return finishDraft(draft, options);
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

/** Translates the directives of a folder or section, and the sections in it. */
function translateBlock(
  state: ApacheImport,
  block: readonly ApacheDirective[],
  scope: ApacheScope,
  levels: AccessLevel[],
  section: { readonly directive: ApacheDirective; readonly requests: SectionRequests } | null = null,
): void {
  for (const one of block) if (VARIABLE_DIRECTIVES.includes(one.name)) readVariables(state, scope, one);
  const requests = section?.requests ?? {
    condition: scope.condition,
    folders: null,
    differences: [],
    isWide: false,
  };
  const level = accessLevel(state, block, { requests, section: section?.directive ?? null });
  if (level !== null) levels.push(level);
  translateRewrites(
    state,
    scope,
    block.filter(({ name }) => name.startsWith('rewrite')),
  );
  translateRedirects(state, scope, block);
  translateProxies(state, scope, block);
  for (const one of block) if (ANSWER_DIRECTIVES.includes(one.name)) translateAnswer(state, scope, one);
  let before: SectionRequests['condition'] | null = null;
  for (const one of block) {
    if (one.block === null) {
      if (!isHandled(one)) translateSetting(state, scope, one);
      continue;
    }
    if (ACCESS_DIRECTIVES.includes(one.name)) continue;
    if (!CONTAINERS.includes(one.name)) {
      markMissing(entryFor(state, one), `\`<${one.name}>\` is a section without an equivalent`);
      continue;
    }
    before = translateSection(state, one, { scope, levels, before });
  }
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

/** Translates a section; the result is the condition that an `<Else>` behind it excludes. */
function translateSection(
  state: ApacheImport,
  one: ApacheDirective,
  {
    scope,
    levels,
    before,
  }: {
    readonly scope: ApacheScope;
    readonly levels: AccessLevel[];
    readonly before: SectionRequests['condition'] | null;
  },
): SectionRequests['condition'] | null {
  const isDirectory = one.name === 'directory';
  const root = isDirectory ? folderOf(one.args[0] ?? '', state) : null;
  const read =
    isDirectory && root !== null
      ? { condition: folderRequests(root), folders: null, differences: [], isWide: false }
      : isDirectory || one.name === 'directorymatch'
        ? {
            condition: unknownTest(one.text, 'is a folder outside the document root'),
            folders: null,
            differences: [],
            isWide: false,
          }
        : readSection(state, one, { base: scope.base, before });
  const around =
    scope.inSection || !one.name.startsWith('files') || scope.base === '/' ? scope.condition : EVERY;
  const condition = allOf([around, read.condition]);
  const inner = {
    ...scope,
    condition,
    inSection: !isDirectory,
    ...(isDirectory && root !== null ? { perDirectory: true, base: root } : {}),
  };
  translateBlock(state, one.block!, inner, levels, { directive: one, requests: { ...read, condition } });
  if (one.name === 'if') return read.condition;
  return one.name === 'elseif' && before !== null ? anyOf([before, read.condition]) : null;
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
