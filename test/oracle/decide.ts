/**
 * The phases of semantics §4, run once for what happens and, when a dry_run rule matched, once more for the shadow.
 * A run walks the stored rules of each type in order and asks every one of them whether it matches.
 */
import type {
  BotRouteRule,
  CacheRule,
  GatewayRule,
  ObjectKeys,
  RateLimitRule,
  RewriteRule,
  Rule,
} from '../../src/rules/model/types.ts';
import type { Facts } from './facts.ts';
import { ruleMatches } from './filters.ts';
import {
  answerOf,
  corsFields,
  exhaustedQuota,
  type GatewayVerdict,
  hidden,
  judgeRequest,
  type NaiveRegistry,
  outcomeOf,
  planOf,
  upstreamChanges,
  wantedBy,
  withBody,
} from './gateways.ts';
import { headerChanges } from './headers.ts';
import { altOrigin, type Origins, poolOrigin, recordOrigin, routeOrigin } from './origins.ts';
import {
  addressKey,
  type PlanRates,
  type PlanVerdict,
  type RateState,
  type Rates,
  type RateVerdict,
} from './rates.ts';
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
  CredentialsWanted,
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
  /** All rules by priority, then id; gateways by the length of their base paths before that. */
  readonly rules: readonly Rule[];
  readonly registry: NaiveRegistry;
  readonly rates: Rates;
  readonly planRates: PlanRates;
  /** Where requests are in flight, one entry for each. */
  readonly inFlight: string[];
  readonly origins: Origins;
  /** What rules and records go by where that is not their id. */
  readonly keys: ObjectKeys | undefined;
  /** Milliseconds; `null` when developer mode is off. */
  readonly developerUntil: number | null;
}

/** What the run for real worked out, for the shadow to reuse. */
interface Memo {
  readonly rates: Map<number, RateVerdict>;
  /** By the gateway's id. */
  readonly plans: Map<number, PlanVerdict & { readonly name: string }>;
  readonly wafs: Map<number, WafVerdict>;
  readonly pools: Map<number, number>;
  /** Rules that count the request if its response has one of their statuses. */
  readonly waiting: RateLimitRule[];
  /** Where the admitted request is in flight; `null`: nothing limits that. */
  slot: string | null;
  /** What the response may state of rate limits. */
  readonly states: StatedRate[];
  record: number | null;
}

/** What a response may state of a rate limit, or of a usage plan. */
interface StatedRate {
  /** `null`: it is that of a usage plan. */
  readonly rule: RateLimitRule | null;
  readonly plan?: string;
  readonly state: RateState;
}

/** The gateway that has admitted a request. */
interface Admitted {
  readonly rule: GatewayRule;
  readonly verdict: GatewayVerdict;
}

/** What a decided request leaves to its response. */
export interface Leftover {
  readonly facts: Facts;
  readonly waiting: readonly RateLimitRule[];
  readonly states: Memo['states'];
  /** Where the request is in flight, if it is; `null`: no usage plan limits that. */
  readonly slot: string | null;
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
  admitted: Admitted | null;
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
    const counts = !shadow || rule.action_mode === 'dry_run';
    const waits = rule.count_statuses !== undefined;
    const known = memo.rates.get(rule.id);
    const verdict = known ?? world.rates.hit(rule, facts, !counts || waits);
    if (known === undefined && counts && waits) memo.waiting.push(rule);
    memo.rates.set(rule.id, verdict);
    const taken = acts(run, rule) && ending !== null;
    const states = (acting: boolean): void => {
      if (shadow || rule.action_mode === 'dry_run' || !(acting || rule.headers === true)) return;
      memo.states.push({ rule, state: world.rates.state(rule, facts, verdict) });
    };
    if (!verdict.breached || taken) {
      record(run, rule, 'counted');
      states(false);
      continue;
    }
    record(run, rule, rule.on_breach === 'drop' ? 'block' : 'challenge');
    const isActing = acts(run, rule) && !(rule.on_breach === 'captcha' && isOwn(facts));
    states(isActing);
    if (!isActing) continue;
    const { retryAfter } = verdict;
    ending =
      rule.on_breach === 'drop' ? { ...block(run, rule), status: 429, retryAfter } : challenge(run, rule);
  }
  return ending;
}

function ownPhase({ facts }: Run): Ending | null {
  return isOwn(facts) ? { action: 'respond', status: 200, rule: null } : null;
}

/** The first gateway that matches and acts takes the request: it answers it, or admits it. */
function gatewayPhase(run: Run): Ending | null {
  if (isAcme(run.facts)) return null;
  const { facts, memo, world } = run;
  for (const rule of matching(run, 'gateway')) {
    let verdict = judgeRequest(rule, facts, world.registry);
    const plan = verdict.reason === 'admitted' ? planOf(rule, verdict, world.registry) : null;
    const exhausted = plan === null ? null : exhaustedQuota(facts, verdict, plan);
    if (exhausted !== null) verdict = { ...verdict, reason: 'quota' };
    const slot = verdict.reason === 'admitted' ? slotOf(run, rule, verdict) : null;
    const isBusy = slot !== null && world.inFlight.filter((one) => one === slot).length >= plan!.concurrency!;
    if (isBusy) verdict = { ...verdict, reason: 'concurrency' };
    const rate = verdict.reason === 'admitted' ? countLimits(run, rule, verdict) : null;
    if (rate?.breached)
      verdict = { ...verdict, reason: 'throttled', isOfOperation: rate.name.startsWith('operation ') };
    if (verdict.reason === 'admitted') verdict = withBody(rule, facts, verdict);
    record(run, rule, verdict.reason === 'admitted' ? 'admit' : 'respond');
    if (!acts(run, rule)) continue;
    if (rate !== null && !run.shadow) {
      memo.states.push({ rule: null, plan: rate.name, state: rate.state });
    }
    if (exhausted !== null && !run.shadow) {
      const { policy, limit } = exhausted;
      memo.states.push({ rule: null, plan: `${plan!.name} quota`, state: { policy, limit } });
    }
    if (verdict.reason === 'admitted') {
      if (!run.shadow) memo.slot = slot;
      run.admitted = { rule, verdict };
      return null;
    }
    const { status, body, headers } = answerOf(rule, facts, verdict);
    return {
      ...{ action: 'respond', status, body, rule: ref(run, rule), gateway: outcomeOf(rule, verdict) },
      ...(rate === null ? {} : { retryAfter: rate.retryAfter }),
      ...(exhausted === null ? {} : { retryAfter: exhausted.retryAfter }),
      ...(isBusy ? { retryAfter: 1 } : {}),
      responseHeaders: headers,
    };
  }
  return null;
}

/** Where a request is in flight: under its consumer, else its address; `null`: its plan does not limit that. */
function slotOf({ facts, world }: Run, rule: GatewayRule, verdict: GatewayVerdict): string | null {
  const plan = planOf(rule, verdict, world.registry);
  if (plan === null || plan.concurrency === null || rule.action_mode === 'dry_run') return null;
  return JSON.stringify([
    plan.name,
    verdict.consumer?.username ?? addressKey(facts),
    verdict.consumer === null,
  ]);
}

/**
 * Counts a request under `limits` of its operation and under its usage plan once, unless one refuses it. `null`: it has neither. The
 * tighter of both is stated: the one that refuses it for longer, else the one that lets fewer through.
 */
function countLimits({ facts, memo, shadow, world }: Run, rule: GatewayRule, verdict: GatewayVerdict) {
  const plan = planOf(rule, verdict, world.registry);
  const { operation } = verdict;
  const isDry = rule.action_mode === 'dry_run';
  const consumer = verdict.consumer?.username ?? null;
  const text = operation?.operation_id ?? `${operation?.methods} ${operation?.path}`;
  const place = `${world.keys?.rules.get(rule.id) ?? rule.id}\n${text}`;
  const limits = [
    ...(operation?.limits === undefined ? [] : [{ name: `operation ${place}`, throttle: operation.limits }]),
    ...(plan === null || plan.throttle === null ? [] : [{ name: plan.name, throttle: plan.throttle }]),
  ].map((limit) => ({ ...limit, consumer, isDry, facts }));
  if (limits.length === 0) return null;
  const known = memo.plans.get(rule.id);
  if (known !== undefined) return known;
  const judged = limits.map((limit) => ({ name: limit.name, ...world.planRates.judge(limit) }));
  const isRefused = judged.some(({ breached }) => breached);
  if (!isRefused && (!shadow || isDry)) for (const limit of limits) world.planRates.count(limit);
  const ofRefusal = judged.filter(({ breached }) => breached === isRefused);
  const tightness = (one: (typeof judged)[number]): number =>
    isRefused ? -(one.retryAfter ?? 0) : one.remaining;
  const [tightest] = ofRefusal.sort((one, other) => tightness(one) - tightness(other));
  memo.plans.set(rule.id, tightest!);
  return tightest!;
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
  if (run.admitted !== null) return null;
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
  const query = rewriteQuery(rewrite?.rule ?? null, cachedQuery(cacheRule, run.facts));
  const forwarded = { action: 'forward', status: null, ...chooseOrigin(run), path, query, cache } as const;
  if (run.admitted === null) return forwarded;
  const { rule, verdict } = run.admitted;
  const isCached = verdict.consumer === null || cache?.mode === 'force';
  const without = hidden(rule, run.facts, query);
  const made = { facts: run.facts, isTagged: () => false, consumer: verdict.consumer?.username ?? null };
  const own = headerChanges(upstreamChanges(rule), 'request', made);
  return {
    ...forwarded,
    query: without.query,
    cache: isCached ? cache : BYPASS,
    requestHeaders: [...without.changes, ...own],
  };
}

/** Every match, in order; the request side of forwarded requests, the response side of every answer (§14). */
function headersPhase(run: Run, ending: Ending): Partial<Decision> {
  const { action } = ending;
  const acting = matching(run, 'headers').filter((rule) => {
    record(run, rule, 'headers');
    return acts(run, rule);
  });
  const isTagged = (entry: string): boolean => taggedBefore(run, { type: 'headers', entry });
  const { admitted, facts } = run;
  const consumer = (ending.gateway?.consumer ?? admitted?.verdict.consumer?.username) || null;
  const made = { facts, isTagged, consumer };
  const byRules = action === 'forward' ? headerChanges(acting, 'request', made) : [];
  const request = [...(ending.requestHeaders ?? []), ...byRules];
  const cors = admitted === null ? [] : corsFields(admitted.rule, facts);
  const response = [...(ending.responseHeaders ?? []), ...cors, ...headerChanges(acting, 'response', made)];
  return {
    ...(admitted !== null && { gateway: outcomeOf(admitted.rule, admitted.verdict) }),
    ...(request.length > 0 && { requestHeaders: request }),
    ...(response.length > 0 && { responseHeaders: response }),
  };
}

const PHASES: readonly ((run: Run) => Ending | null)[] = [
  dropPhase,
  fingerprintPhase,
  botPhase,
  ratePhase,
  ownPhase,
  gatewayPhase,
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
  return { world, facts, memo, shadow, matches: [], tags: [], waf: null, pinned: null, admitted: null };
}

function emptyMemo(): Memo {
  const byRule = { rates: new Map(), plans: new Map(), wafs: new Map(), pools: new Map() };
  return { ...byRule, waiting: [], states: [], slot: null, record: null };
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
    const changes = headersPhase(run, ending);
    const { matches, tags, waf } = run;
    const { requestHeaders: _, responseHeaders: __, ...settled } = ending;
    return { ...NOTHING, ...settled, ...changes, matches, tags, waf, revision: world.env.revision ?? 0 };
  }
  throw new Error('the last phase always ends the run');
}

/** The gate's own answer. */
export function refusal(world: World, status: number): Decision {
  return { ...NOTHING, action: 'refuse', status, rule: null, revision: world.env.revision ?? 0 };
}

/** The decision for a request that passed the gate, with its shadow, and what is left for its response. */
export function decide(world: World, facts: Facts): { readonly decision: Decision; readonly left: Leftover } {
  const memo = emptyMemo();
  const real = runPhases(world, facts, { memo, shadow: false });
  const isLimited = real.action === 'forward' || real.rule?.type === 'rate_limit';
  // A usage plan is stated on every answer that it has judged.
  const states = memo.states.filter(({ rule }) => rule === null || isLimited);
  const dry = real.matches.some((match) => match.mode === 'dry_run');
  const decision = dry ? { ...real, shadow: runPhases(world, facts, { memo, shadow: true }) } : real;
  const slot = real.action === 'forward' ? memo.slot : null;
  return { decision, left: { facts, waiting: memo.waiting, states, slot } };
}

/** Where credentials of a request are read; `null`: none can matter to its decision. Counts nothing. */
export function credentialsWanted(world: World, facts: Facts): CredentialsWanted | null {
  const run = startRun(world, facts, { memo: emptyMemo(), shadow: false });
  const isEnded = [dropPhase, fingerprintPhase, botPhase].some((phase) => phase(run) !== null);
  if (isEnded || isAcme(facts) || isOwn(facts)) return null;
  const limits = matching(run, 'rate_limit').filter(({ action_mode }) => action_mode === 'enforce');
  if (limits.some((limit) => world.rates.hit(limit, facts, true).breached)) return null;
  const found = matching(run, 'gateway');
  const rule = found.find((one) => one.action_mode === 'enforce') ?? found[0];
  return rule === undefined ? null : wantedBy(rule, facts, world.registry);
}
