/** Compares nginx with an imported file: each generated request runs through both, and what differs is listed. */
import { MAX_WINDOW_SEC } from '../../base/vocabulary/limits.ts';
import { compileEdge } from '../../edge/middleware/node/edge-input.ts';
import { type Evaluator, loadPlan } from '../../engine/evaluator/index.ts';
import { seal } from '../../engine/plan/seal.ts';
import type { NginxDirective } from '../../workbench/importers/nginx/parse-nginx.ts';
import {
  hostRegexes,
  readServer,
  recordOfRegex,
  withFiniteNames,
} from '../../workbench/importers/nginx/servers.ts';
import type { ImportedEdge } from '../../workbench/importers/report.ts';
import { passes } from '../../workbench/importers/text-test.ts';
import { inputFault } from '../exit.ts';
import { type CheckedOutcome, type CheckedRequest, runNginx } from './run-nginx.ts';

/** The most requests of one `import nginx --check`: a minute of them, and each path of a large configuration. */
const MAX_CHECKED_REQUESTS = 5_000;

/**
 * `opened`: nginx reaches no origin, over http and https, and the edge does; `lost_redirect`: nginx redirects and the edge forwards; `closed`: the
 * edge refuses what nginx does not; `other`: another status, target or path.
 */
export type DifferenceKind = 'opened' | 'lost_redirect' | 'closed' | 'other';

/** One request that both answer otherwise. */
export interface CheckedDifference {
  readonly kind: DifferenceKind;
  readonly request: CheckedRequest;
  readonly nginx: CheckedOutcome;
  readonly edge: CheckedOutcome;
}

/** The result of a check. */
export interface NginxCheck {
  /** Requests that were compared. */
  readonly compared: number;
  readonly differences: readonly CheckedDifference[];
}

/** Runs the requests of a configuration through nginx and through the imported file. @throws CommandFault */
export async function checkNginx(
  program: string,
  directives: readonly NginxDirective[],
  { edge, origin }: { readonly edge: ImportedEdge; readonly origin: string },
): Promise<NginxCheck> {
  const compiled = compileEdge(new TextEncoder().encode(edge.text), 'edge.yaml');
  if (!compiled.ok) throw inputFault('the imported file does not compile');
  // nginx runs without limits, and here requests are further apart than any window: a check would reach the limits.
  let now = Date.now();
  const evaluator = loadPlan(seal(compiled.plan, { revision: 0 }), {
    clock: () => (now += MAX_WINDOW_SEC * 1_000),
  });
  const nginx = await runNginx(program, withoutLimits(directives));
  const differences: CheckedDifference[] = [];
  let compared = 0;
  try {
    for (const request of generateRequests(directives)) {
      const theirs = await nginx.ask(request);
      if (theirs === null) continue;
      const ours = decide(evaluator, request);
      // Hosts without a record are not of the file.
      if (ours.kind === 'answer' && ours.status === 421) continue;
      compared++;
      const kind = differenceOf(theirs, ours, origin);
      if (kind === null) continue;
      // What nginx forwards alike over the other scheme is not opened.
      const other = kind === 'opened' ? await nginx.ask(otherScheme(request)) : null;
      const isElsewhere = other !== null && differenceOf(other, ours, origin) === null;
      differences.push({ kind: isElsewhere ? 'other' : kind, request, nginx: theirs, edge: ours });
    }
  } finally {
    await nginx.stop();
  }
  return { compared, differences };
}

function otherScheme(request: CheckedRequest): CheckedRequest {
  return { ...request, scheme: request.scheme === 'http' ? 'https' : 'http' };
}

/** The directives without those that limit how often or how fast a visitor may ask. */
function withoutLimits(directives: readonly NginxDirective[]): readonly NginxDirective[] {
  return directives.flatMap((one) => {
    if (/^limit_(?:req|conn|rate)/.test(one.name)) return [];
    return [one.block === null ? one : { ...one, block: withoutLimits(one.block) }];
  });
}

/** The decision of the file in the form of an outcome. */
function decide(evaluator: Evaluator, request: CheckedRequest): CheckedOutcome {
  const { scheme, host, target } = request;
  const decision = evaluator.evaluate({ ...request, headers: {} });
  const { action, status, location, origin, path, query } = decision;
  if (action === 'redirect')
    return {
      kind: 'redirect',
      status: status!,
      url: new URL(location!, `${scheme}://${host}${target}`).href,
    };
  if (action !== 'forward') return { kind: 'answer', status: status! };
  const { address, port, scheme: to, hostHeader } = origin!;
  const isDefault = port === null || port === (to === 'https' ? 443 : 80);
  return {
    kind: 'forward',
    origin: isDefault ? address : `${address}:${port}`,
    target: query === null ? path! : `${path}?${query}`,
    host: hostHeader === '' ? host : hostHeader,
  };
}

/** How both outcomes differ; `null`: they are alike. `fallback`: the origin of hosts for which nginx names none. */
export function differenceOf(
  nginx: CheckedOutcome,
  edge: CheckedOutcome,
  fallback: string,
): DifferenceKind | null {
  switch (edge.kind) {
    case 'forward':
      if (nginx.kind === 'redirect') return 'lost_redirect';
      if (nginx.kind === 'forward') return sameForward(nginx, edge) ? null : 'other';
      return edge.origin === fallback && !isRefusal(nginx) ? null : 'opened';
    case 'redirect':
      if (nginx.kind !== 'redirect') return 'other';
      return nginx.status === edge.status && sameUrl(nginx.url, edge.url) ? null : 'other';
    case 'answer':
      if (nginx.kind !== 'answer') return 'closed';
      return nginx.status === edge.status ? null : 'other';
  }
}

/** Whether nginx refuses a visitor; files that are not there, and methods that files have not, are no refusals. */
function isRefusal({ status, isReturned }: Extract<CheckedOutcome, { kind: 'answer' }>): boolean {
  if (status === 404 || status === 405) return isReturned === true;
  return [0, 400, 401, 403, 410, 429, 451, 503].includes(status);
}

function sameForward(
  one: Extract<CheckedOutcome, { kind: 'forward' }>,
  other: Extract<CheckedOutcome, { kind: 'forward' }>,
): boolean {
  const plain = (text: string): string => text.replace(/:(?:80|443)$/, '');
  // nginx resolves nothing where the path stays; an empty query counts as none.
  const settled = (text: string): string => text.replace(/^\/+/, '/').replace(/\?$/, '');
  return plain(one.origin) === plain(other.origin) && settled(one.target) === settled(other.target);
}

function sameUrl(one: string, other: string): boolean {
  return one.replace(/\?$/, '') === other.replace(/\?$/, '');
}

// Generates the requests of a check: hosts, paths and addresses that a configuration names, with the neighbours of each.

/** The requests, at most `MAX_CHECKED_REQUESTS`: all hosts and schemes of the first paths, then of the next. */
function generateRequests(directives: readonly NginxDirective[]): readonly CheckedRequest[] {
  const all = flatten(directives);
  const hosts = hostsOf(all);
  const targets = targetsOf(all);
  const addresses = addressesOf(all);
  const methods = ['GET', 'POST', 'DELETE'];
  const requests: CheckedRequest[] = [];
  for (const target of targets) {
    for (const host of hosts) {
      for (const scheme of ['http', 'https'] as const) {
        const request = { scheme, method: 'GET', host, target, ip: '198.18.0.1' };
        for (const method of methods) requests.push({ ...request, method });
        for (const ip of addresses) requests.push({ ...request, ip });
      }
    }
    if (requests.length >= MAX_CHECKED_REQUESTS) break;
  }
  return requests.slice(0, MAX_CHECKED_REQUESTS);
}

function flatten(directives: readonly NginxDirective[]): readonly NginxDirective[] {
  return directives.flatMap((one) => [one, ...flatten(one.block ?? [])]);
}

/** Labels of hosts that wildcards and regexes may match. */
const LABELS = ['wild', 'a.wild', 'www', 't1', 'x-1', 'de', '1'];

/** Hosts of one check at most. */
const MAX_HOSTS = 10;

/** Names of servers, and names for each wildcard and regex: one that a regex matches, and one that it may not. */
function hostsOf(all: readonly NginxDirective[]): readonly string[] {
  const hosts = new Set<string>();
  const servers = all.filter(({ name, block }) => name === 'server' && block !== null).map(readServer);
  const finite = servers.map((one) => withFiniteNames(one, servers));
  for (const { exact } of finite) for (const name of exact) hosts.add(name);
  const patterns: string[] = [];
  for (const server of finite) {
    const ends = server.wildcards.map((name) => name.slice(1));
    for (const end of ends) patterns.push(`wild${end}`);
    for (const regex of server.regexes) {
      const end = recordOfRegex(regex)?.slice(1);
      if (end === undefined) continue;
      const names = LABELS.map((label) => `${label}${end}`);
      const tests = hostRegexes({ ...server, regexes: [regex] });
      const isMatched = (name: string): boolean => tests.some((test) => passes(test, name));
      patterns.push(
        ...[names.find(isMatched), names.find((name) => !isMatched(name))].flatMap((n) => n ?? []),
      );
    }
  }
  const exact = [...hosts].slice(0, MAX_HOSTS - Math.min(patterns.length, MAX_HOSTS / 2));
  return [...new Set([...exact, ...patterns])].slice(0, MAX_HOSTS);
}

/** Paths in the words of directives, with the neighbours at which matching goes wrong. */
function targetsOf(all: readonly NginxDirective[]): readonly string[] {
  const found = new Set<string>(['/', '/zz', '/zz/b.png?x=1', '/index.php', '/.git/config']);
  for (const { name, args, block } of all) {
    const words = ['include', 'root', 'alias', 'access_log', 'server_name'].includes(name) ? [] : [...args];
    if (block === null && !['return', 'rewrite', 'if', 'try_files', 'proxy_pass'].includes(name)) {
      // Keys of a map are names of directives.
      words.push(name);
    }
    for (const word of words) for (const path of pathsIn(word)) addNeighbours(path, found);
  }
  return [...found];
}

/** Texts of a word that look like paths; what a regex repeats or groups ends them. */
function pathsIn(word: string): readonly string[] {
  const plain = word.replace(/^https?:\/\/[^/]*/, '').replaceAll(/\\(?=[./_-])/g, '');
  const paths = [...plain.matchAll(/\/[\w.~%-][\w.~/%-]*/g)].map(([path]) =>
    path.replace(/%(?![0-9a-f]{2})/gi, ''),
  );
  const suffix = /\\\.\(?\??:?([a-z0-9]+)/i.exec(word)?.[1];
  return suffix === undefined ? paths : [...paths, `/zz/f.${suffix}`];
}

function addNeighbours(path: string, found: Set<string>): void {
  const bare = path.replace(/\/$/, '');
  const many = [path, bare, `${bare}/`, `${bare}/x`, `${bare}x`, `${path}?q=1&r=2`, `/${path}`, `/x${path}`];
  for (const one of [...many, bare.toUpperCase(), `${bare}/Y.php`, `${bare}//x`]) {
    // The edge forwards dot segments resolved.
    if (one.startsWith('/') && !/\/\.{1,2}(?:[/?]|$)/.test(one)) found.add(one);
  }
}

/** Addresses that lists name: the first of each network. */
function addressesOf(all: readonly NginxDirective[]): readonly string[] {
  const found = new Set<string>();
  for (const { name, args } of all) {
    const words = ['allow', 'deny'].includes(name) ? args : name === 'if' ? [args.at(-1) ?? ''] : [name];
    for (const word of words) {
      const address = /^(\d+\.\d+\.\d+\.\d+)(?:\/\d+)?\)?$/.exec(word)?.[1];
      if (address !== undefined) found.add(address.replace(/\.0$/, '.1'));
    }
  }
  return [...found].slice(0, 4);
}
