/**
 * Generates the requests of a check: hosts, paths, addresses, methods, headers, query parameters and cookies that a configuration
 * names, with the neighbours of each.
 */
import type { NginxDirective } from '../../workbench/importers/nginx/parse-nginx.ts';
import {
  hostRegexes,
  readServer,
  recordOfRegex,
  withFiniteNames,
} from '../../workbench/importers/nginx/servers.ts';
import { passes } from '../../workbench/importers/text-test.ts';
import type { CheckedRequest } from './run-nginx.ts';
import { flatten, type RequestVariant, variantsOf } from './variants.ts';

/** The most requests over hosts, paths and addresses: half a minute of them, and each path of a large configuration. */
const MAX_PLACES = 5_000;
/** The least targets of a host: configurations that name few paths are asked for those that sites usually have. */
const LEAST_TARGETS = 40;
/** The most requests with what the conditions of a configuration name. */
const MAX_VARIANTS = 4_000;

/** The requests: all hosts and schemes of the first paths, then of the next, and with each variant in turn. */
export function generateRequests(directives: readonly NginxDirective[]): readonly CheckedRequest[] {
  const all = flatten(directives);
  const hosts = hostsOf(all);
  const named = targetsOf(all);
  const usual = USUAL_TARGETS.filter((target) => !named.includes(target));
  const addresses = addressesOf(all);
  const methods = ['GET', 'POST', 'DELETE'];
  const places = placesOf(named, hosts);
  const others = placesOf(usual.slice(0, Math.max(0, LEAST_TARGETS - named.length)), hosts);
  const plain = [...places, ...others].flatMap((request) => [
    ...methods.map((method) => ({ ...request, method })),
    ...addresses.map((ip) => ({ ...request, ip })),
  ]);
  return [...plain.slice(0, MAX_PLACES), ...withVariants(places, addresses, variantsOf(directives))];
}

/** A request of each target, host and scheme. */
function placesOf(targets: readonly string[], hosts: readonly string[]): readonly CheckedRequest[] {
  return targets.flatMap((target) =>
    hosts.flatMap((host) =>
      (['http', 'https'] as const).map((scheme) => ({
        scheme,
        method: 'GET',
        host,
        target,
        ip: '198.18.0.1',
      })),
    ),
  );
}

/** Requests with variants; of too many, each so many places has one variant and the next place the next. */
function withVariants(
  places: readonly CheckedRequest[],
  addresses: readonly string[],
  variants: readonly RequestVariant[],
): readonly CheckedRequest[] {
  const step = Math.ceil((places.length * variants.length) / MAX_VARIANTS);
  const requests: CheckedRequest[] = [];
  for (const [index, place] of places.entries()) {
    const ip = addresses[index % (addresses.length + 1)] ?? place.ip;
    for (let at = index % Math.max(step, 1); at < variants.length; at += Math.max(step, 1)) {
      const { query, ...own } = variants[at]!;
      const mark = place.target.includes('?') ? '&' : '?';
      const target = query === undefined ? place.target : `${place.target}${mark}${query}`;
      requests.push({ ...place, ip, ...own, target });
    }
  }
  return requests;
}

/** Targets that sites usually have, those of guards and of regexes over file names among them. Notes of the report are about other spellings. */
const USUAL_TARGETS: readonly string[] = [
  '/admin /admin/ /login /api /api/v1/users?page=2 /wp-login.php /wp-admin/x /.env /.htaccess',
  '/server-status /phpinfo.php /robots.txt /favicon.ico /sitemap.xml /a.css /js/app.js /img/a.jpg',
  '/img/a.JPG /fonts/a.woff2 /a.html /a/ /a/b/c /a.php/b /a.sql /a.bak /backup.zip /cart',
  '/account/orders /feed/ /docs/a /img/a.webp /x.json /download?file=a.pdf /search?q=a+b /old/page',
  '/blog/2026/11/a /users/42 /static/a.svg /health /metrics',
].flatMap((line) => line.split(' '));

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
