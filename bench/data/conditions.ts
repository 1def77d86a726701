/**
 * Rules with conditions: what application teams say of requests beyond hosts, paths and addresses. Half of them are filed by
 * their own path, half by what their conditions ask; a few ask of every request. The few are the same at every size.
 */
import type { EdgeRequest } from '../../src/engine/evaluator/request.ts';
import type { RuleSet } from '../../src/rules/model/types.ts';
import { type Random, seeded } from '../../test/support/generate-random.ts';
import { flat, requestOf } from './requests.ts';
import { DOMAIN, RECORDS, SECTIONS, slug } from './words.ts';
import { ruleSetOf, type WrittenRule } from './written.ts';

/** A rule with what a request needs to meet it. */
interface Drawn {
  readonly rule: WrittenRule;
  readonly change: (request: EdgeRequest) => EdgeRequest;
}

const header = (name: string, op: string, values: readonly string[]) => ({ headers: [{ name, op, values }] });

/** Rules that ask of much of the traffic, whatever the size of the set. */
const BROAD: readonly WrittenRule[] = [
  { type: 'drop', conditions: { methods: ['TRACE', 'CONNECT'] } },
  { type: 'drop', conditions: { user_agents: { includes: ['*sqlmap*', '*nikto*'] } } },
  { type: 'drop', conditions: header('x-original-url', 'present', []) },
  { type: 'cache', mode: 'bypass', conditions: { cookies: [{ name: 'session', op: 'present' }] } },
  {
    type: 'redirect',
    path_includes: ['/account/*'],
    target: 'https://shop.example/',
    conditions: { schemes: ['http'] },
  },
];

type Draw = (random: Random, at: number) => Drawn;

/** A path that only rule `at` names. */
function ownPath(random: Random, at: number): string {
  return `/${random.pick(SECTIONS)}/${slug(random)}-r${at}`;
}

const withHeaders = (request: EdgeRequest, more: Readonly<Record<string, string>>): EdgeRequest => ({
  ...request,
  headers: {
    ...request.headers,
    ...Object.fromEntries(Object.entries(more).map(([name, text]) => [name, flat(text)])),
  },
});

const KINDS: readonly Draw[] = [
  (random, at) => {
    const path = ownPath(random, at);
    return {
      rule: { type: 'drop', path_includes: [`${path}*`], conditions: { methods: ['POST', 'PUT', 'DELETE'] } },
      change: (request) => ({ ...request, method: 'POST', target: flat(path) }),
    };
  },
  (_random, at) => ({
    rule: { type: 'drop', conditions: header('x-tenant', 'equals', [`tenant-${at}`, `tenant-${at}-old`]) },
    change: (request) => withHeaders(request, { 'x-tenant': `tenant-${at}` }),
  }),
  (_random, at) => ({
    rule: {
      type: 'origin_route',
      address: 'beta.example',
      conditions: header(`x-flag-${at}`, 'present', []),
    },
    change: (request) => withHeaders(request, { [`x-flag-${at}`]: '1' }),
  }),
  (_random, at) => ({
    rule: {
      type: 'redirect',
      target: `/moved/${at}`,
      conditions: { query: [{ name: 'product', op: 'equals', values: [`p-${at}`] }] },
    },
    change: (request) => ({ ...request, target: flat(`${request.target.split('?', 1)[0]}?product=p-${at}`) }),
  }),
  (_random, at) => ({
    rule: { type: 'drop', conditions: { query: [{ name: `debug-${at}`, op: 'present' }] } },
    change: (request) => ({ ...request, target: flat(`${request.target.split('?', 1)[0]}?debug-${at}`) }),
  }),
  (_random, at) => ({
    rule: {
      type: 'origin_route',
      address: 'lab.example',
      conditions: { cookies: [{ name: `lab-${at}`, op: 'present' }] },
    },
    change: (request) => withHeaders(request, { cookie: `lab-${at}=on` }),
  }),
  (_random, at) => ({
    rule: {
      type: 'rewrite',
      path_target: `/canary/${at}`,
      conditions: { cookies: [{ name: 'canary', op: 'prefix', values: [`c${at}.`] }] },
    },
    change: (request) => withHeaders(request, { cookie: `a=1; canary=c${at}.x` }),
  }),
  (random, at) => {
    const path = ownPath(random, at);
    return {
      rule: {
        type: 'captcha',
        path_includes: [`${path}/*`],
        conditions: { user_agents: { excludes: ['Mozilla/*'] }, ...header('authorization', 'absent', []) },
      },
      change: (request) =>
        withHeaders({ ...request, target: flat(`${path}/login`) }, { 'user-agent': 'curl/8.5' }),
    };
  },
];

/** Half of the requests are aimed at one of the rules, half at none in particular. */
export function conditional(
  count: number,
  pool: number,
): { readonly ruleSet: RuleSet; readonly requests: readonly EdgeRequest[] } {
  const random = seeded(20_261_129 + count);
  const drawn: Drawn[] = BROAD.map((rule) => ({ rule, change: (request) => request }));
  while (drawn.length < count) drawn.push(random.pick(KINDS)(random, drawn.length));
  const aimed = seeded(7);
  const requests = aimed.times(pool, () => {
    const request = requestOf(aimed, {});
    return aimed.chance(0.5) ? aimed.pick(drawn).change(request) : request;
  });
  const rules = drawn.map(({ rule }) => rule);
  return { ruleSet: ruleSetOf({ domain: DOMAIN, records: RECORDS, rules }), requests };
}

/**
 * Rules of one path, so that each is a candidate of its requests: each asks that a header of its own has not one value, for
 * which no index narrows the rule, or excludes its own path, or asks for a country, which is the cheapest filter of all. No
 * request meets one.
 */
export function candidates(count: number, by: 'header' | 'path' | 'country'): RuleSet {
  const rules = Array.from({ length: count }, (_, at) => ({
    type: 'drop',
    path_includes: ['/items/*'],
    ...{
      header: { conditions: header(`x-part-${at}`, 'not_equals', [`v${at}`]) },
      path: { path_excludes: ['/items/*'] },
      country: { country_match_type: 'exclude', countries: ['DE'] },
    }[by],
  }));
  return ruleSetOf({ domain: DOMAIN, records: RECORDS, rules });
}

/** Requests of that path with ordinary headers and each of those that the rules ask for. */
export function candidateRequests(count: number, pool: number): readonly EdgeRequest[] {
  const random = seeded(11);
  const parts = Object.fromEntries(Array.from({ length: count }, (_, at) => [`x-part-${at}`, `v${at}`]));
  return random.times(pool, (index) => {
    const request = requestOf(random, { path: `/items/${index}` });
    return withHeaders({ ...request, country: 'DE' }, { 'x-request-id': `r${index}`, ...parts });
  });
}
