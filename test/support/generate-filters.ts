/** Generated host and path filters over the shared alphabets. */
import type { PathFilter, RuleCommon } from '../../src/rules/model/types.ts';
import type { Random } from './generate-random.ts';
import { HOST_LABELS, SEGMENTS } from './generate-words.ts';

/** A name of the domain. */
export function hostName(random: Random, domain: string): string {
  const label = random.pick(HOST_LABELS);
  return label === '' ? domain : `${label}.${domain}`;
}

function exactHost(random: Random, domain: string): string {
  const name = hostName(random, domain);
  return random.pick([name, name, name, name.toUpperCase(), `${name}.`]);
}

function wildcardHost(random: Random, domain: string): string {
  return random.pick([
    `*.${domain}`,
    `*.b.${domain}`,
    `*.B.${domain}.`,
    `w*.${domain}`,
    `*b*`,
    `a*.${domain}`,
    `*.*.${domain}`,
    '*',
    `*${domain}`,
    'a.*',
    exactHost(random, domain),
    exactHost(random, domain),
  ]);
}

const HOST_REGEXES = [
  '^www\\.',
  '^(a|b)\\.',
  'API',
  '\\.com$',
  '(^|\\.)b\\.',
  '^[^.]+\\.[^.]+$',
  '^x.*m$',
  '\\.',
];

/** The host part of a rule; most rules have none. */
export function hostFilter(
  random: Random,
  domain: string,
): Pick<RuleCommon, 'host_pattern' | 'host_match_type' | 'host_includes' | 'host_excludes'> {
  const type = random.pick(['exact', 'wildcard', 'wildcard', 'regex'] as const);
  const entry = () => {
    if (type === 'regex') return random.pick(HOST_REGEXES);
    return type === 'exact' ? exactHost(random, domain) : wildcardHost(random, domain);
  };
  const some = (share: number, most: number) =>
    random.chance(share) ? random.times(1 + random.int(most), entry) : [];
  const host_pattern = random.chance(0.1) ? entry() : '';
  const host_includes = some(0.3, 3);
  const host_excludes = some(0.12, 2);
  const none = host_pattern === '' && host_includes.length === 0 && host_excludes.length === 0;
  return { host_pattern, host_match_type: none ? '' : type, host_includes, host_excludes };
}

function wildcardPath(random: Random): string {
  const one = random.pick(SEGMENTS);
  const two = random.pick(SEGMENTS);
  return random.pick([
    `/${one}`,
    `/${one}`,
    `/${one}/`,
    `/${one}/*`,
    `/${one}/*`,
    `/${one}*`,
    `/${one}/${two}`,
    `/${one}/${two}*`,
    `/*/${one}`,
    `/*/${one}/*`,
    `/${one}/*/${two}`,
    `*${one}*`,
    `*${one}`,
    '*.php',
    `/${encodeURIComponent(one)}`,
    `/%${one.codePointAt(0)! < 0x80 ? one.charCodeAt(0).toString(16) : '41'}${one.slice(1)}`,
    '/%2A',
    '/%ff*',
    `/${one};p`,
    '/',
    '*',
  ]);
}

function regexPath(random: Random): string {
  const one = random.pick(SEGMENTS);
  const two = random.pick(SEGMENTS);
  return random.pick([
    `^/${one}`,
    `^/${one}$`,
    `/${one}/?$`,
    `^/${one}(.*)$`,
    '^/x?(.*)$',
    `^/(${one}|${two})/(.*)$`,
    '^/([^/]+)/(?P<rest>.*)$',
    `^/(${one})?(${two}|/)`,
    `(?i)${one}`,
    '/v[0-9]+',
    '\\.php$',
    'a.b',
    `(?:${one}|${two})+`,
    '[^/a-z]',
    '^/(a|api)(i|dmin|.*)',
  ]);
}

/** The path part of a rule; `narrow` keeps it from matching every path. */
export function pathFilter(random: Random, { narrow }: { narrow: boolean }): PathFilter {
  const path_match_type = random.pick(['wildcard', 'wildcard', 'wildcard', 'regex'] as const);
  const entry = () => (path_match_type === 'regex' ? regexPath(random) : wildcardPath(random));
  const all = path_match_type === 'wildcard' && random.chance(0.6) ? ['/*'] : [];
  return {
    path_match_type,
    path_includes: narrow ? random.times(1 + random.int(3), entry) : all,
    path_excludes: random.chance(0.2) ? random.times(1 + random.int(2), entry) : [],
  };
}
