/** Hosts and origins: `<VirtualHost>` with its names and `ProxyPass`, and for `.htaccess` alone the domain with its conditions. */
import { normalizeName } from '../../../base/addresses/host.ts';
import { type DraftOrigin, markDifference, markMissing, markNeedless, tryRule } from '../draft.ts';
import { type ImportedCondition, ruleFields } from '../filter.ts';
import { addAlternatives } from '../guard.ts';
import { equalsText, startsWithText } from '../text-test.ts';
import { type ApacheImport, type ApacheScope, allOf, EVERY, entryFor } from './context.ts';
import type { ApacheDirective } from './parse-htaccess.ts';
import { literalTests } from './patterns.ts';
import { inWorlds } from './variables.ts';

/** Names of hosts in conditions and targets that a file is read for at most. */
const MAX_HOSTS = 64;

/** The hosts of the files: those that virtual hosts name, else the domain, its `www`, and those that conditions name. */
export function findHosts(directives: readonly ApacheDirective[], domain: string | null): readonly string[] {
  const named = hostBlocks(directives).flatMap(namesOf);
  const found = new Set(named);
  if (domain !== null && named.length === 0) {
    found.add(domain);
    if (!domain.startsWith('www.')) found.add(`www.${domain}`);
    for (const host of namedInConditions(directives)) if (host.endsWith(`.${domain}`)) found.add(host);
  }
  return [...found].slice(0, MAX_HOSTS);
}

function hostBlocks(directives: readonly ApacheDirective[]): readonly ApacheDirective[] {
  return directives.filter(({ name }) => name === 'virtualhost');
}

/** The exact names of a virtual host. */
function namesOf({ block }: ApacheDirective): readonly string[] {
  return (block ?? [])
    .filter(({ name }) => name === 'servername' || name === 'serveralias')
    .flatMap(({ args }) => args)
    .flatMap((name) => normalizeName(name.replace(/^https?:\/\//, '').replace(/:\d+$/, '')) ?? [])
    .filter((name) => !/[*?]/.test(name));
}

/** Hosts that `RewriteCond` compares with, as literal text. */
function namedInConditions(directives: readonly ApacheDirective[]): readonly string[] {
  return directives.flatMap(({ name, args, rest, block }) => {
    if (block !== null) {
      const written = name.endsWith('if') ? [...rest.matchAll(/['"]([\w-]+(?:\.[\w-]+)+)['"]/g)] : [];
      const own = written.flatMap((match) => normalizeName(match[1]!) ?? []);
      return [...own, ...namedInConditions(block)];
    }
    if (name !== 'rewritecond' || !/^%\{(?:HTTP_HOST|SERVER_NAME)\}$/i.test(args[0] ?? '')) return [];
    const source = (args[1] ?? '').replace(/^!/, '').replace(/^=/, '^');
    const texts = literalTests(source)?.texts ?? [];
    return texts.flatMap((text) => normalizeName(text) ?? []);
  });
}

/** One virtual host with its requests. */
export interface HostedDirectives {
  readonly directives: readonly ApacheDirective[];
  readonly condition: ImportedCondition;
}

/** Separates virtual hosts from the other directives. */
export function virtualHosts(
  state: ApacheImport,
  directives: readonly ApacheDirective[],
): { readonly hosted: readonly HostedDirectives[]; readonly plain: readonly ApacheDirective[] } {
  const hosted = hostBlocks(directives).map((one) => {
    const names = namesOf(one);
    const port = /:(\d+)/.exec(one.args[0] ?? '')?.[1];
    const scheme = port === '443' ? 'https' : 'http';
    const hasTwin = hostBlocks(directives).some(
      (other) => other !== one && namesOf(other).some((name) => names.includes(name)),
    );
    for (const name of (one.block ?? []).filter((each) => each.name === 'serveralias')) {
      if (name.args.some((arg) => /[*?]/.test(arg)))
        markMissing(
          entryFor(state, name),
          'hosts of a wildcard have no record; add the records of its hosts',
        );
    }
    if (names.length === 0) markMissing(entryFor(state, one), 'it names no host');
    const condition = inWorlds(
      state,
      (world) => names.includes(world.host) && (!hasTwin || world.scheme === scheme),
    );
    return {
      directives: one.block ?? [],
      condition: names.length === state.hosts.length && !hasTwin ? EVERY : condition,
    };
  });
  return { hosted, plain: directives.filter(({ name }) => name !== 'virtualhost') };
}

/** The origin of `ProxyPass /`. */
export function originOfHost(directives: readonly ApacheDirective[], host: string): DraftOrigin | null {
  for (const block of hostBlocks(directives)) {
    if (!namesOf(block).includes(host)) continue;
    const pass = (block.block ?? []).find(({ name, args }) => name === 'proxypass' && args[0] === '/');
    const origin = pass === undefined ? null : readOrigin(pass.args[1] ?? '');
    if (origin === null || (origin.path !== '' && origin.path !== '/')) continue;
    const isPreserved = (block.block ?? []).some(
      ({ name, args }) => name === 'proxypreservehost' && args[0]?.toLowerCase() === 'on',
    );
    const { address, port, scheme } = origin;
    return {
      address,
      port,
      scheme: scheme === 'https' ? 'Https' : 'Http',
      hostHeader: isPreserved ? '' : origin.host,
    };
  }
  return null;
}

function readOrigin(url: string) {
  const [, scheme, host = '', path = ''] = /^(https?):\/\/([^/]+)(\/.*)?$/i.exec(url) ?? [];
  const [, address = '', port] = /^(.*?)(?::(\d+))?$/.exec(host) ?? [];
  return scheme === undefined
    ? null
    : { scheme, address, host, path, port: port === undefined ? null : Number(port) };
}

/** Translates `ProxyPass` below the root: the origin of a path. */
export function translateProxies(
  state: ApacheImport,
  scope: ApacheScope,
  block: readonly ApacheDirective[],
): void {
  for (const one of block) {
    if (
      one.name === 'servername' ||
      (one.name === 'serveralias' && !one.args.some((arg) => /[*?]/.test(arg)))
    ) {
      entryFor(state, one).becomes.push('record');
      continue;
    }
    if (one.name !== 'proxypass' && one.name !== 'proxypassmatch') continue;
    const entry = entryFor(state, one);
    const [path = '', url = ''] = one.args;
    const origin = readOrigin(url);
    if (one.name === 'proxypass' && path === '/' && origin !== null && /^\/?$/.test(origin.path)) {
      entry.becomes.push('record');
      markDifference(entry, 'a URL of the origin in an answer is not rewritten');
    } else if (one.name === 'proxypass' && url === '!') markNeedless(entry, 'its paths are the origin’s');
    else if (origin === null || one.name === 'proxypassmatch' || !path.startsWith('/'))
      markMissing(entry, 'its target is no literal URL of http or https');
    else emitProxy(state, { scope, entry, path }, origin);
  }
}

function emitProxy(
  state: ApacheImport,
  {
    scope,
    entry,
    path,
  }: { readonly scope: ApacheScope; readonly entry: ReturnType<typeof entryFor>; readonly path: string },
  origin: NonNullable<ReturnType<typeof readOrigin>>,
): void {
  const isSame = origin.path === path || (origin.path === '' && path === '/');
  if (!isSame) {
    markMissing(entry, 'its origin has another path than the visitor');
    return;
  }
  const bare = path.replace(/\/$/, '');
  const tests = path.endsWith('/') ? [startsWithText(path)] : [equalsText(bare), startsWithText(`${bare}/`)];
  const { address, scheme, port, host } = origin;
  addAlternatives(state.draft, entry, {
    condition: allOf([{ kind: 'path', tests }, scope.condition]),
    differences: [],
    unmet: 'no request has such a path',
    emit: (filter) =>
      tryRule(state.draft, entry, 'origin_route', {
        ...ruleFields(filter),
        address,
        scheme,
        host_header: host,
        ...(port === null ? {} : { port }),
      }),
  });
}
