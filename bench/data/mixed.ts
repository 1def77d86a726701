/**
 * The rule set an ordinary large customer has: all twelve types, most rules about one path, address or host of their
 * own, a few about every request. The few are the same at every size, so a request meets as many rules that match it
 * among 10,000 as among 100; that is what "same selectivity" means here. No rule is dry_run.
 */
import type { EdgeRequest } from '../../src/engine/evaluator/request.ts';
import type { RuleSet } from '../../src/rules/model/types.ts';
import { type Random, seeded } from '../../test/support/generate-random.ts';
import { requestOf, type Wanted } from './requests.ts';
import { DOMAIN, HOSTS, OTHER_COUNTRIES, RECORDS, SECTIONS, slug, VISITOR_COUNTRIES } from './words.ts';
import { ruleSetOf, type WrittenRule } from './written.ts';

/** A rule with a request's part that meets it. */
interface Drawn {
  readonly rule: WrittenRule;
  readonly wanted: Wanted;
}

export interface Mixed {
  readonly ruleSet: RuleSet;
  readonly requests: readonly EdgeRequest[];
  /** Paths that a rule names exactly, without any other filter, with the id of that redirect. */
  readonly exactPaths: ReadonlyMap<string, number>;
}

/** Rules that concern much of the traffic, whatever the size of the set. */
const BROAD: readonly WrittenRule[] = [
  { type: 'drop', path_includes: ['*/.git/*', '*/.env', '*/wp-login.php'] },
  {
    type: 'bot_route',
    bot_kinds: ['gptbot', 'ccbot'],
    action: 'block',
    host_includes: ['docs.shop.example'],
  },
  { type: 'bot_route', bot_kinds: ['ahrefsbot', 'semrushbot'], action: 'tag' },
  {
    type: 'rate_limit',
    path_includes: ['/api/*'],
    limit: 1_000_000,
    window_sec: 60,
    key_by: 'ip',
    on_breach: 'drop',
  },
  { type: 'waf', paranoia: 1, threshold: 5, body_cap_kb: 128, path_includes: ['/account/*', '/cart/*'] },
  { type: 'cache', path_includes: ['*.css', '*.js', '*.png'], mode: 'force', edge_ttl_sec: 86_400 },
  { type: 'cache', path_includes: ['/api/*', '/account/*'], mode: 'bypass' },
  {
    type: 'origin_pool',
    record_ids: [3],
    lb_type: 'round_robin',
    origins: [
      { address: '198.51.100.1', scheme: 'https' },
      { address: '198.51.100.2', scheme: 'https' },
    ],
  },
];

type Draw = (random: Random, at: number) => Drawn;

/** A path that only rule `at` names. */
function ownPath(random: Random, at: number): string {
  return `/${random.pick(SECTIONS)}/${slug(random)}-r${at}`;
}

function ownAddress(at: number): string {
  return `${170 + (at >> 14)}.${(at >> 6) & 255}.${(at & 63) * 4}.0`;
}

/** The kinds of rules, each as often as its `share` in a hundred. */
const KINDS: readonly { readonly share: number; readonly draw: Draw }[] = [
  { share: 14, draw: dropAddress },
  { share: 5, draw: dropCountry },
  { share: 4, draw: dropPath },
  { share: 2, draw: fingerprint },
  { share: 5, draw: rateLimit },
  { share: 3, draw: waf },
  { share: 20, draw: redirectExact },
  { share: 6, draw: redirectPrefix },
  { share: 5, draw: redirectHost },
  { share: 2, draw: captcha },
  { share: 9, draw: rewrite },
  { share: 1, draw: rewriteRegex },
  { share: 14, draw: cache },
  { share: 7, draw: originRoute },
  { share: 3, draw: errorPage },
];

function dropAddress(_random: Random, at: number): Drawn {
  const base = ownAddress(at);
  const [first, second, third] = base.split('.') as [string, string, string];
  const forms = [
    [`${base}/24`],
    [`${first}.${second}.${third}.7`, `${base}/28`],
    [`2001:db9:${at.toString(16)}::/48`, `${base}/26`],
  ];
  return { rule: { type: 'drop', ips: forms[at % 3]! }, wanted: { ip: `${first}.${second}.${third}.7` } };
}

function dropCountry(random: Random, at: number): Drawn {
  const path = ownPath(random, at);
  const countries = [...random.some(OTHER_COUNTRIES, 4), random.pick(VISITOR_COUNTRIES)];
  const country = countries.at(-1)!;
  return {
    rule: { type: 'drop', path_includes: [`${path}/*`], countries },
    wanted: { path: `${path}/checkout`, country },
  };
}

function dropPath(random: Random, at: number): Drawn {
  const path = ownPath(random, at);
  const entries = at % 2 === 0 ? [`${path}/*.php`, `${path}/*.cgi`] : [`*/backup-${slug(random)}-r${at}*`];
  const met = at % 2 === 0 ? `${path}/index.php` : entries[0]!.replace('*', '/media').replace('*', '.tar');
  return { rule: { type: 'drop', path_includes: entries }, wanted: { path: met } };
}

function fingerprint(random: Random, at: number): Drawn {
  const print = `t13d${1000 + at}h2_${(at * 7919).toString(16).padStart(12, '0')}_${random
    .int(1 << 30)
    .toString(16)
    .padStart(12, '0')}`;
  const action = random.pick(['drop', 'tag', 'challenge']);
  return { rule: { type: 'fingerprint', match_ja4: [print], action }, wanted: { ja4: print } };
}

function rateLimit(random: Random, at: number): Drawn {
  const path = ownPath(random, at);
  const rule = {
    type: 'rate_limit',
    path_includes: [`${path}/*`],
    limit: 500_000,
    window_sec: 60,
    key_by: 'ip',
    on_breach: 'drop',
  };
  return { rule, wanted: { path: `${path}/items` } };
}

function waf(random: Random, at: number): Drawn {
  const path = ownPath(random, at);
  return {
    rule: { type: 'waf', path_includes: [path, `${path}/*`], paranoia: 1, threshold: 5, body_cap_kb: 64 },
    wanted: { path },
  };
}

function redirectExact(random: Random, at: number): Drawn {
  const path = ownPath(random, at);
  return {
    rule: { type: 'redirect', path_includes: [path], target: `https://new.example/moved/${at}` },
    wanted: { path },
  };
}

function redirectPrefix(random: Random, at: number): Drawn {
  const path = ownPath(random, at);
  const rule = {
    type: 'redirect',
    path_includes: [`${path}/*`],
    path_excludes: [`${path}/keep/*`],
    target: 'https://new.example/',
    preserve_path: true,
  };
  return { rule, wanted: { path: `${path}/${slug(random)}` } };
}

function redirectHost(random: Random, at: number): Drawn {
  const path = ownPath(random, at);
  const host = random.pick(HOSTS);
  const filter = random.chance(0.5)
    ? { host_match_type: 'exact', host_includes: [host] }
    : { host_includes: ['*.shop.example'], host_excludes: ['api.shop.example'] };
  return {
    rule: { type: 'redirect', path_includes: [`${path}*`], ...filter, target: 'https://new.example/' },
    wanted: { path, host },
  };
}

function captcha(random: Random, at: number): Drawn {
  const path = ownPath(random, at);
  return {
    rule: { type: 'captcha', path_includes: [`${path}/*`], ttl_sec: 3_600 },
    wanted: { path: `${path}/login` },
  };
}

function rewrite(random: Random, at: number): Drawn {
  const path = ownPath(random, at);
  return {
    rule: { type: 'rewrite', path_includes: [`${path}/*`], path_target: `/internal/${at}` },
    wanted: { path: `${path}/a` },
  };
}

function rewriteRegex(random: Random, at: number): Drawn {
  const path = ownPath(random, at);
  const source = `^${path}/([0-9]+)/?([a-z]*)$`;
  return {
    rule: { type: 'rewrite', path_match_type: 'regex', path_includes: [source], path_target: '/item/$1/$2' },
    wanted: { path: `${path}/${random.int(9_999)}/view` },
  };
}

function cache(random: Random, at: number): Drawn {
  const path = ownPath(random, at);
  const rule = {
    type: 'cache',
    path_includes: [`${path}/*.css`, `${path}/*.js`, `${path}/index.html`],
    mode: 'standard',
    edge_ttl_sec: 600,
  };
  return { rule, wanted: { path: `${path}/theme/main.css` } };
}

function originRoute(random: Random, at: number): Drawn {
  const path = ownPath(random, at);
  return {
    rule: { type: 'origin_route', path_includes: [`${path}/*`], address: `origin-${at % 97}.example` },
    wanted: { path: `${path}/x` },
  };
}

function errorPage(random: Random, at: number): Drawn {
  const path = ownPath(random, at);
  const content = { 0: `<h1>Sorry</h1><p>Page ${at} is away.</p>` };
  return {
    rule: { type: 'error_page', path_includes: [`${path}/*`], mode: 'custom', codes: [404, 502], content },
    wanted: { path: `${path}/y` },
  };
}

/** Which kinds of rules a set has: all, or only those about what the floor looks up: hosts, paths and addresses. */
export type Variety = 'all types' | 'hosts, paths, addresses';

const PLAIN: readonly Draw[] = [dropAddress, redirectExact, redirectPrefix, redirectHost, originRoute];

function drawRules(random: Random, count: number, variety: Variety): readonly Drawn[] {
  const kinds = variety === 'all types' ? KINDS : KINDS.filter(({ draw }) => PLAIN.includes(draw));
  const hundred = kinds.flatMap(({ share, draw }) => Array.from({ length: share }, () => draw));
  const broad = variety === 'all types' ? BROAD : [];
  const drawn: Drawn[] = broad.map((rule) => ({ rule, wanted: {} }));
  while (drawn.length < count) {
    for (const draw of random.shuffled(hundred))
      if (drawn.length < count) drawn.push(draw(random, drawn.length));
  }
  return drawn;
}

/** Half of the requests are aimed at one of the rules, half at none in particular. */
export function mixed(count: number, pool: number, variety: Variety = 'all types'): Mixed {
  const random = seeded(20_260_714 + count);
  const drawn = drawRules(random, count, variety);
  const aimed = seeded(7);
  const requests = aimed.times(pool, () =>
    requestOf(aimed, aimed.chance(0.5) ? aimed.pick(drawn).wanted : {}),
  );
  const ruleSet = ruleSetOf({ domain: DOMAIN, records: RECORDS, rules: drawn.map(({ rule }) => rule) });
  const exact = ruleSet.rules.flatMap((rule) => {
    if (rule.type !== 'redirect' || rule.host_includes.length > 0) return [];
    const [only] = rule.path_includes;
    return only !== undefined && !only.includes('*') ? [[only, rule.id] as const] : [];
  });
  return { ruleSet, requests, exactPaths: new Map(exact) };
}
