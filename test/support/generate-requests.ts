/** Generated requests: mostly sensible ones aimed at a rule set's own entries, some of them oddly spelled or broken. */
import type { EdgeRequest } from '../../src/engine/evaluator/request.ts';
import type { Rule, RuleSet } from '../../src/rules/model/types.ts';
import { hostName } from './generate-filters.ts';
import type { Random } from './generate-random.ts';
import { withValues } from './generate-values.ts';
import {
  ADDRESSES,
  BOTS,
  COUNTRIES,
  JA4,
  JA4H,
  QUERIES,
  SEGMENTS,
  START,
  USER_AGENTS,
} from './generate-words.ts';

type Loose = { [F in keyof EdgeRequest]?: unknown };

function randomPath(random: Random): string {
  const depth = random.int(4);
  return `/${random.times(depth, () => random.pick(SEGMENTS)).join('/')}${random.chance(0.15) && depth > 0 ? '/' : ''}`;
}

/** A path a wildcard entry matches; regex entries are met by the small alphabet alone. */
function pathFor(random: Random, rule: Rule): string {
  if (rule.type === 'redirect' && random.chance(0.4)) {
    // Where the redirect leads: what comes back may be sent to itself.
    const own = /^(?:https?:\/\/[^/]*)?(\/[^?#]*)/.exec(rule.target)?.[1];
    if (own !== undefined) return own;
  }
  if (!('path_includes' in rule) || rule.path_match_type === 'regex') return randomPath(random);
  const entries = [...rule.path_includes, ...rule.path_includes, ...rule.path_excludes];
  if (entries.length === 0) return randomPath(random);
  const filled = random.pick(entries).replace(/\*/g, () => random.pick(['', 'a', 'api', 'v1/b', 'x.php']));
  return filled.startsWith('/') ? filled : `/${filled}`;
}

/** The path with what a URI may not hold raw written as escapes. */
function sendable(path: string): string {
  return path.replace(/[\s#?]/g, encodeURIComponent);
}

function escapeOne(random: Random, path: string): string {
  const at = 1 + random.int(Math.max(1, path.length - 1));
  const octet = path.charCodeAt(at);
  if (!(octet > 0x20 && octet < 0x7f) || octet === 0x25 || path.slice(at - 2, at).includes('%')) return path;
  return `${path.slice(0, at)}%${octet.toString(16)}${path.slice(at + 1)}`;
}

/** Another way to write a path, most of them of the same canonical form. */
function respell(random: Random, path: string): string {
  const slash = path.indexOf('/', 1);
  const cut = slash < 0 ? path.length : slash;
  return random.pick([
    `/${path}`,
    `/.${path}`,
    `/x/..${path}`,
    `/x/%2e%2E${path}`,
    `/x/..;p${path}`,
    `/;${path}`,
    `/x\\..\\${path.slice(1)}`,
    `/x/..%2f${path.slice(1)}`,
    `${path};p`,
    `${path.slice(0, cut)};p=1${path.slice(cut)}`,
    `${path}/`,
    `${path}/.`,
    `${path}%2f`,
    `${path}%5c..`,
    `${path.slice(0, cut)}%3Bp${path.slice(cut)}`,
    path.toUpperCase(),
    path.replaceAll('a', '%2561'),
    escapeOne(random, path),
    escapeOne(random, path),
    `/%ff${path}`,
    `/*`,
  ]);
}

const BROKEN_TARGETS = [
  '',
  '*',
  'a',
  '/%',
  '/%4',
  '/%zz',
  '/a%00',
  '/a b',
  '/a#b',
  '/a;%2fb',
  'ftp://x/',
  7,
  null,
];

const OWN_PATHS = [
  '/.well-known/acme-challenge/tok_EN-1',
  '/.well-known/acme-challenge/tok_EN-1?x',
  '/.well-known/acme-challenge/',
  '/.well-known/edgeplan/solve',
  '/.well-known/edgeplan;p/solve',
];

function target(random: Random, rule: Rule | null, host: string): unknown {
  if (random.chance(0.015)) return random.pick(BROKEN_TARGETS);
  if (random.chance(0.02)) return random.pick(OWN_PATHS);
  let path = sendable(rule === null || random.chance(0.3) ? randomPath(random) : pathFor(random, rule));
  if (random.chance(0.25)) path = respell(random, path);
  const text = path + random.pick(QUERIES);
  return random.chance(0.03) ? `${random.pick(['http', 'https', 'HTTPS'])}://${host}${text}` : text;
}

/** A host the records answer for, as far as one can be told from the records alone. */
function servedHost(random: Random, { domain, records }: RuleSet): string {
  const proxied = records.filter((record) => record.proxied);
  if (proxied.length === 0 || random.chance(0.1)) return hostName(random, domain.name);
  const label = random
    .pick(proxied)
    .name.replace(/\.$/, '')
    .replace('*', random.pick(['www', 'c', 'd', 'x.d']));
  if (label === '@') return domain.name;
  return label.endsWith(domain.name) ? label : `${label}.${domain.name}`;
}

function hostFor(random: Random, rule: Rule | null, ruleSet: RuleSet): string {
  const scoped = ruleSet.records.filter((record) => rule?.record_ids.includes(record.id));
  const served = servedHost(random, scoped.length > 0 ? { ...ruleSet, records: scoped } : ruleSet);
  const listed = rule === null ? [] : [rule.host_pattern, ...rule.host_includes].filter((one) => one !== '');
  if (rule === null || rule.host_match_type === 'regex' || listed.length === 0 || random.chance(0.3)) {
    return served;
  }
  const filled = random.pick(listed).replace(/\*/g, () => random.pick(['a', 'www', 'api', 'x.a']));
  return filled.toLowerCase().includes(ruleSet.domain.name) ? filled : served;
}

const BROKEN_HOSTS = [
  '',
  'a b',
  'a..b',
  '127.0.0.1',
  '[::1]',
  '[::1',
  'other.test',
  ['x', 'y'],
  [],
  null,
  'a%b',
  'a,b',
];

function host(random: Random, name: string): unknown {
  if (random.chance(0.015)) return random.pick(BROKEN_HOSTS);
  const port = random.pick(['80', '443', '8443', '', '65536']);
  return random.chance(0.15)
    ? random.pick([name.toUpperCase(), `${name}.`, `${name}:${port}`, `${name}.:${port}`, [name]])
    : name;
}

/** What stays the same from one request of a visitor to the next. */
function visitor(random: Random, rules: readonly Rule[]): Loose {
  const askers = rules.filter((rule) => ['captcha', 'fingerprint', 'rate_limit'].includes(rule.type));
  const solved = askers.filter(() => random.chance(0.4)).map((rule) => `${rule.type}/${rule.id}`);
  const ip = random.pick(ADDRESSES);
  const agent = random.pick(USER_AGENTS);
  const bot = { kind: random.pick(BOTS), verified: random.chance(0.5) };
  return {
    ip: random.pick([ip, ip, ip, ip, `::ffff:192.0.2.1`, '010.0.0.1', null, undefined]),
    country: random.pick([...COUNTRIES, ...COUNTRIES, 'de', 'XX', 'T1', null, undefined]),
    headers: random.pick([
      {},
      { 'user-agent': agent },
      { 'user-agent': agent },
      { 'user-agent': [agent, 'x'] },
    ]),
    bot: random.pick([undefined, undefined, undefined, null, bot, bot]),
    ja4: random.pick([...JA4, undefined]),
    ja4h: random.pick([...JA4H, undefined, undefined]),
    cleared: random.chance(0.4)
      ? [...solved, ...random.times(3, (index) => `record/${index + 1}`)]
      : undefined,
  };
}

const BODIES = [
  '',
  'a=1',
  'select union',
  '{',
  'é'.repeat(513),
  new Uint8Array(1024),
  new Uint8Array(1025).fill(0x61),
];

const GARBAGE = [null, 7, {}, 'x', true, Number.NaN];

const GARBAGE_FIELDS = [
  'scheme',
  'method',
  'headers',
  'ip',
  'country',
  'bot',
  'ja4',
  'ja4h',
  'body',
  'cleared',
] as const;

function step(random: Random, rules: readonly Rule[]): number {
  const limits = rules.filter((rule) => rule.type === 'rate_limit');
  if (limits.length === 0 || random.chance(0.85)) return random.pick([0, 0, 0, 1, 7, 100, 999]);
  const window = random.pick(limits).window_sec * 1000;
  return random.pick([window - 1, window, window + 1, window / 2, (window * 17) / 16, window * 3]);
}

function single(random: Random, ruleSet: RuleSet, sender: Loose): Loose {
  const rule = ruleSet.rules.length > 0 && random.chance(0.8) ? random.pick(ruleSet.rules) : null;
  const name = hostFor(random, rule, ruleSet);
  return {
    scheme: random.pick(['https', 'https', 'https', 'http', 'HTTP']),
    method: random.pick(['GET', 'GET', 'GET', 'HEAD', 'POST']),
    host: host(random, name),
    target: target(random, rule, name),
    ...sender,
    ...(random.chance(0.05) ? { port: random.pick([80, 443, 8443, 0]) } : {}),
    ...(random.chance(0.15)
      ? {
          body: random.pick(BODIES),
          ...(random.chance(0.2) ? { bodyError: 'gzip' } : {}),
          ...(random.chance(0.2) ? { bodyTruncated: true } : {}),
        }
      : {}),
    ...(random.chance(0.03) ? { [random.pick(GARBAGE_FIELDS)]: random.pick(GARBAGE) } : {}),
  };
}

/** How many requests, and of what kind. */
interface RequestOptions {
  readonly count: number;
  /** Whether they have what conditions read: methods, networks, headers, parameters and cookies of all kinds. */
  readonly values: boolean;
}

/**
 * Requests of a few visitors, in the order of their `now`. Some are sent many times over, so that limits are
 * breached and pools turn.
 */
export function generateRequests(
  random: Random,
  ruleSet: RuleSet,
  { count, values }: RequestOptions,
): EdgeRequest[] {
  const visitors = random.times(2 + random.int(4), () => visitor(random, ruleSet.rules));
  const requests: EdgeRequest[] = [];
  let now = START + random.int(60_000);
  while (requests.length < count) {
    const plain = single(random, ruleSet, random.pick(visitors));
    const sent = values ? withValues(random, plain) : plain;
    const repeats = random.chance(0.1) ? random.pick([3, 6, 6, 12, 150]) : 1;
    const calm = repeats > 12 ? 0.98 : 0.4;
    for (let one = 0; one < repeats && requests.length < count; one += 1) {
      if (!random.chance(calm)) now = Math.floor(now + step(random, ruleSet.rules));
      requests.push({ ...sent, now } as unknown as EdgeRequest);
    }
  }
  return requests;
}
