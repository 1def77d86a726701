/**
 * The phases of semantics §4, run once for what happens and, when a dry_run rule matched, once more for the shadow.
 * A run walks the stored rules of each type in order and asks every one of them whether it matches.
 */
import type { BotRouteRule, CacheRule, ObjectKeys, RewriteRule, Rule } from '../../src/rules/model/types.ts';
import type { Facts } from './facts.ts';
import { ruleMatches } from './filters.ts';
import { altOrigin, type Origins, poolOrigin, recordOrigin, routeOrigin } from './origins.ts';
import type { Rates, RateVerdict } from './rates.ts';
import {
  cachedQuery,
  cacheKey,
  isOwnUrl,
  redirectEntry,
  redirectLocation,
  rewritePath,
  rewriteQuery,
} from './rewrite.ts';
import type {
  CacheDirective,
  Decision,
  Effect,
  Match,
  OracleEnv,
  Origin,
  RuleRef,
  WafVerdict,
} from './types.ts';
import { inspect } from './waf.ts';

/** What the oracle holds between requests. */
export interface World {
  readonly env: OracleEnv;
  /** All rules by priority, then id. */
  readonly rules: readonly Rule[];
  readonly rates: Rates;
  readonly origins: Origins;
  /** What rules and records go by where that is not their id. */
  readonly keys: ObjectKeys | undefined;
  /** Milliseconds; `null` when developer mode is off. */
  readonly developerUntil: number | null;
}

/** What the run for real worked out, for the shadow to reuse. */
interface Memo {
  readonly rates: Map<number, RateVerdict>;
  readonly wafs: Map<number, WafVerdict>;
  readonly pools: Map<number, number>;
  record: number | null;
}

/** One run through the phases: for what happens, or for the shadow. */
export interface Run {
  readonly world: World;
  readonly facts: Facts;
  readonly memo: Memo;
  /** Whether dry_run rules act, as they do in the shadow. */
  readonly shadow: boolean;
  readonly matches: Match[];
  readonly tags: string[];
  waf: WafVerdict | null;
  pinned: BotRouteRule | null;
}

/** The fields by which an ending differs from a decision that is empty everywhere. */
type Ending = Partial<Decision> & Pick<Decision, 'action' | 'status' | 'rule'>;

/** The rules of a type that match, in order, by the tags that the run has so far. */
export function matching<T extends Rule['type']>(run: Run, type: T): Extract<Rule, { type: T }>[] {
  const ofType = run.world.rules.filter((rule): rule is Extract<Rule, { type: T }> => rule.type === type);
  return ofType.filter((rule) => ruleMatches(rule, run.facts, (entry) => taggedBefore(run, { type, entry })));
}

/** The phases of tagging rules that come before those of other rules. */
function earlierTagging(type: Rule['type']): readonly Rule['type'][] {
  if (type === 'drop' || type === 'fingerprint') return [];
  return type === 'bot_route' ? ['fingerprint'] : ['fingerprint', 'bot_route'];
}

/** Whether a rule of an earlier phase, named as `<type>/<id>`, `<type>/<key>` or by its key, has tagged in this run. */
function taggedBefore(
  run: Run,
  { type, entry }: { readonly type: Rule['type']; readonly entry: string },
): boolean {
  const named = run.world.rules.filter((rule) => {
    const { key } = keyOf(run.world, rule);
    return [`${rule.type}/${rule.id}`, `${rule.type}/${key}`, key].includes(entry);
  });
  return named.some(
    (rule) => earlierTagging(type).includes(rule.type) && run.tags.includes(textOf(run, rule)),
  );
}

function acts(run: Run, rule: Rule): boolean {
  return run.shadow || rule.type === 'cache' || rule.action_mode === 'enforce';
}

function record(run: Run, rule: Rule, effect: Effect): void {
  const mode = rule.type === 'cache' ? 'enforce' : rule.action_mode;
  run.matches.push({ type: rule.type, id: rule.id, ...keyOf(run.world, rule), mode, effect });
}

/** What a rule or record goes by, where that is not its id. */
export function keyOf({ keys }: World, { type, id }: RuleRef): { readonly key?: string } {
  const key = type === 'record' ? keys?.records.get(id) : keys?.rules.get(id);
  return key === undefined ? {} : { key };
}

function ref({ world }: Run, { type, id }: RuleRef): RuleRef {
  return { type, id, ...keyOf(world, { type, id }) };
}

function textOf(run: Run, rule: RuleRef): string {
  const { type, id, key } = ref(run, rule);
  return `${type}/${key ?? id}`;
}

function block(run: Run, rule: Rule): Ending {
  return { action: 'block', status: 403, rule: ref(run, rule) };
}

function challenge(run: Run, rule: RuleRef): Ending {
  return { action: 'challenge', status: 403, rule: ref(run, rule) };
}

function solved(run: Run, asker: RuleRef): boolean {
  return run.facts.cleared.includes(textOf(run, asker));
}

/** The edge's own paths: where a challenge is solved, so none may stand in the way of them. */
function isOwn({ path, twin }: Facts): boolean {
  return [path, twin].some((one) => one?.startsWith('/.well-known/edgeplan/'));
}

/** GET or HEAD of an ACME challenge, which passes phases 3 and 6–9. */
function isAcme({ method, path, query }: Facts): boolean {
  const get = method === 'GET' || method === 'HEAD';
  return get && (query ?? '') === '' && /^\/\.well-known\/acme-challenge\/[A-Za-z0-9_-]+$/.test(path);
}

function dropPhase(run: Run): Ending | null {
  for (const rule of matching(run, 'drop')) {
    record(run, rule, 'block');
    if (acts(run, rule)) return { ...block(run, rule), status: rule.status ?? 403 };
  }
  return null;
}

function fingerprintPhase(run: Run): Ending | null {
  for (const rule of matching(run, 'fingerprint')) {
    const passed = rule.action === 'challenge' && solved(run, rule);
    record(run, rule, passed ? 'passed' : rule.action === 'drop' ? 'block' : rule.action);
    if (passed || !acts(run, rule)) continue;
    if (rule.action === 'drop') return block(run, rule);
    if (rule.action === 'challenge') {
      if (isOwn(run.facts)) continue;
      return challenge(run, rule);
    }
    run.tags.push(textOf(run, rule));
  }
  return null;
}

function botPhase(run: Run): Ending | null {
  if (isAcme(run.facts)) return null;
  for (const rule of matching(run, 'bot_route')) {
    if (run.pinned !== null && rule.action !== 'tag') continue;
    record(run, rule, rule.action === 'alt_content' ? 'respond' : rule.action);
    if (!acts(run, rule)) continue;
    if (rule.action === 'block') return block(run, rule);
    if (rule.action === 'alt_content') {
      return { action: 'respond', status: rule.status, body: rule.body, rule: ref(run, rule) };
    }
    if (rule.action === 'alt_origin') run.pinned = rule;
    else run.tags.push(textOf(run, rule));
  }
  return null;
}

function ratePhase(run: Run): Ending | null {
  const { facts, memo, shadow, world } = run;
  let ending: Ending | null = null;
  for (const rule of matching(run, 'rate_limit')) {
    const peek = shadow && rule.action_mode === 'enforce';
    const verdict = memo.rates.get(rule.id) ?? world.rates.hit(rule, facts, peek);
    memo.rates.set(rule.id, verdict);
    const taken = acts(run, rule) && ending !== null;
    if (!verdict.breached || taken) {
      record(run, rule, 'counted');
      continue;
    }
    record(run, rule, rule.on_breach === 'drop' ? 'block' : 'challenge');
    if (!acts(run, rule) || (rule.on_breach === 'captcha' && isOwn(facts))) continue;
    const { retryAfter } = verdict;
    ending =
      rule.on_breach === 'drop' ? { ...block(run, rule), status: 429, retryAfter } : challenge(run, rule);
  }
  return ending;
}

function ownPhase({ facts }: Run): Ending | null {
  return isOwn(facts) ? { action: 'respond', status: 200, rule: null } : null;
}

function wafPhase(run: Run): Ending | null {
  const { facts, memo, world } = run;
  for (const rule of matching(run, 'waf')) {
    const verdict = memo.wafs.get(rule.id) ?? inspect(rule, facts, world.env.waf ?? null);
    if (verdict !== null) memo.wafs.set(rule.id, verdict);
    const over =
      verdict !== null &&
      (verdict.exhausted ||
        verdict.denied ||
        verdict.score >= rule.threshold ||
        (rule.on_uninspected === 'block' && verdict.uninspected !== null));
    const effect = verdict === null ? 'unavailable' : over ? 'block' : 'passed';
    const told = verdict !== null && !acts(run, rule) ? { waf: verdict } : {};
    const ref = { type: 'waf', id: rule.id, ...keyOf(run.world, rule) } as const;
    run.matches.push({ ...ref, mode: rule.action_mode, effect, ...told });
    if (!acts(run, rule)) continue;
    run.waf = verdict;
    return over ? block(run, rule) : null;
  }
  return null;
}

function redirectPhase(run: Run): Ending | null {
  if (run.pinned !== null || isAcme(run.facts)) return null;
  for (const rule of matching(run, 'redirect')) {
    const location = redirectLocation(rule, run.facts);
    if (typeof location === 'number') {
      record(run, rule, 'refuse');
      if (acts(run, rule)) return { action: 'refuse', status: location, rule: ref(run, rule) };
      continue;
    }
    const own = isOwnUrl(location, run.facts);
    record(run, rule, own ? 'self_redirect' : 'redirect');
    if (!own && acts(run, rule)) {
      return {
        action: 'redirect',
        status: redirectEntry(rule, run.facts)?.status ?? rule.status_code,
        rule: ref(run, rule),
        location,
      };
    }
  }
  return null;
}

const SEARCH_CRAWLERS = ['googlebot', 'bingbot', 'applebot', 'duckduckbot', 'yandexbot'];

function captchaPhase(run: Run): Ending | null {
  const { bot, records } = run.facts;
  if (isAcme(run.facts) || (bot?.verified && SEARCH_CRAWLERS.includes(bot.kind))) return null;
  for (const rule of matching(run, 'captcha')) {
    const passed = solved(run, rule);
    record(run, rule, passed ? 'passed' : 'challenge');
    if (acts(run, rule)) return passed ? null : challenge(run, rule);
  }
  const asking = records.find((one) => one.captcha);
  if (asking === undefined) return null;
  const asker: RuleRef = { type: 'record', id: asking.id };
  return solved(run, asker) ? null : challenge(run, asker);
}

/** The rewrite rule that acts, and the path it makes, or the status that refuses the request. */
function chooseRewrite(run: Run): { rule: RewriteRule; path: string | 400 | 414 } | null {
  if (run.pinned !== null || isAcme(run.facts)) return null;
  for (const rule of matching(run, 'rewrite')) {
    const path = rewritePath(rule, run.facts);
    record(run, rule, typeof path === 'number' ? 'refuse' : 'rewrite');
    if (acts(run, rule)) return { rule, path };
  }
  return null;
}

const BYPASS: CacheDirective = { mode: 'bypass', edgeTtl: null, browserTtl: null, key: null };

function chooseCache(run: Run): { rule: CacheRule | null; cache: CacheDirective | null } {
  const { facts, pinned, world } = run;
  const developing = world.developerUntil !== null && facts.now < world.developerUntil;
  if (developing || pinned !== null) return { rule: null, cache: BYPASS };
  const rule = isAcme(facts) ? undefined : matching(run, 'cache')[0];
  if (rule === undefined) return { rule: null, cache: null };
  record(run, rule, 'cache');
  const { mode, edge_ttl_sec: edgeTtl, browser_ttl_sec: browserTtl } = rule;
  return {
    rule,
    cache: mode === 'bypass' ? BYPASS : { mode, edgeTtl, browserTtl, key: cacheKey(rule, facts) },
  };
}

function chooseOrigin(run: Run): { rule: RuleRef | null; origin: Origin } {
  const { facts, memo, pinned, shadow, world } = run;
  if (pinned !== null) return { rule: ref(run, pinned), origin: altOrigin(pinned, facts) };
  for (const rule of matching(run, 'origin_route')) {
    record(run, rule, 'origin');
    if (acts(run, rule)) return { rule: ref(run, rule), origin: routeOrigin(rule, facts) };
  }
  for (const rule of matching(run, 'origin_pool')) {
    record(run, rule, 'origin');
    if (!acts(run, rule)) continue;
    const index = memo.pools.get(rule.id) ?? world.origins.pickPool(rule, shadow);
    memo.pools.set(rule.id, index);
    return { rule: ref(run, rule), origin: poolOrigin(rule, index, facts) };
  }
  memo.record ??= world.origins.pickRecord(facts.records, shadow);
  return { rule: null, origin: recordOrigin(facts.records[memo.record]!, facts) };
}

function forwardPhase(run: Run): Ending {
  const rewrite = chooseRewrite(run);
  const path = rewrite?.path ?? run.facts.forwarded;
  if (typeof path === 'number') return { action: 'refuse', status: path, rule: ref(run, rewrite!.rule) };
  const { rule: cacheRule, cache } = chooseCache(run);
  return {
    action: 'forward',
    status: null,
    ...chooseOrigin(run),
    path,
    query: rewriteQuery(rewrite?.rule ?? null, cachedQuery(cacheRule, run.facts)),
    cache,
  };
}

const PHASES: readonly ((run: Run) => Ending | null)[] = [
  dropPhase,
  fingerprintPhase,
  botPhase,
  ratePhase,
  ownPhase,
  wafPhase,
  redirectPhase,
  captchaPhase,
  forwardPhase,
];

const NOTHING: Omit<Decision, 'action' | 'status' | 'rule' | 'revision'> = {
  location: null,
  body: null,
  origin: null,
  path: null,
  query: null,
  cache: null,
  tags: [],
  retryAfter: null,
  waf: null,
  matches: [],
  shadow: null,
};

function startRun(world: World, facts: Facts, { memo, shadow }: { memo: Memo; shadow: boolean }): Run {
  return { world, facts, memo, shadow, matches: [], tags: [], waf: null, pinned: null };
}

function emptyMemo(): Memo {
  return { rates: new Map(), wafs: new Map(), pools: new Map(), record: null };
}

/** The run after the phases that tag, for rules that are matched on the response. Counts nothing. */
export function taggedRun(world: World, facts: Facts, shadow: boolean): Run {
  const run = startRun(world, facts, { memo: emptyMemo(), shadow });
  for (const phase of [dropPhase, fingerprintPhase, botPhase]) if (phase(run) !== null) break;
  return run;
}

function runPhases(world: World, facts: Facts, how: { memo: Memo; shadow: boolean }): Decision {
  const run = startRun(world, facts, how);
  for (const phase of PHASES) {
    const ending = phase(run);
    if (ending === null) continue;
    const { matches, tags, waf } = run;
    return { ...NOTHING, ...ending, matches, tags, waf, revision: world.env.revision ?? 0 };
  }
  throw new Error('the last phase always ends the run');
}

/** The gate's own answer. */
export function refusal(world: World, status: number): Decision {
  return { ...NOTHING, action: 'refuse', status, rule: null, revision: world.env.revision ?? 0 };
}

/** The decision for a request that passed the gate, with its shadow. */
export function decide(world: World, facts: Facts): Decision {
  const memo = emptyMemo();
  const real = runPhases(world, facts, { memo, shadow: false });
  if (!real.matches.some((match) => match.mode === 'dry_run')) return real;
  return { ...real, shadow: runPhases(world, facts, { memo, shadow: true }) };
}
