/** Phase 4: every rule that matches counts; the first breached one acts. */
import { formatIp } from '../../../base/addresses/ip.ts';
import { BREACH_ACTIONS } from '../../../base/vocabulary/vocabulary.ts';
import { FLAG_ACTION_SHIFT, META, RATE_FIELDS, SLOT, typeIndex } from '../../plan/layout.ts';
import type { RuleExplanation, RuleReason, Settled } from '../checks.ts';
import { counterSpace, type RateKey, type RateResult, type RateWindow } from '../counters.ts';
import type { Decision, Effect } from '../decision.ts';
import { type Facts, ipOf, isEdgeOwn } from '../facts.ts';
import { isCleared, keyOfSlot } from '../identity.ts';
import { textOf } from '../loaded.ts';
import { acts, type Context, end, isDryRun, nextMatch, type Run, record, refOf, slotWord } from '../run.ts';

const RATE_LIMIT = typeIndex('rate_limit');

/** Runs the phase; true when it ended the request. */
export function rateLimit(context: Context, run: Run): boolean {
  let acting = -1;
  for (let slot = nextMatch(context, RATE_LIMIT); slot >= 0; slot = nextMatch(context, RATE_LIMIT)) {
    const verdict = judge(context, run, slot);
    const mayAct = acts(context, run, slot);
    const effect = !verdict.breached || (mayAct && acting >= 0) ? 'counted' : breachEffect(context, slot);
    record(context, run, slot, effect);
    if (!verdict.breached || !mayAct || acting >= 0) continue;
    if (effect === 'block' || !isEdgeOwn(context.facts)) acting = slot;
  }
  if (acting < 0) return answerOwnPath(context, run);
  const rule = refOf(context, acting);
  if (breachEffect(context, acting) === 'challenge') return end(run, 'challenge', { status: 403, rule });
  run.retryAfter = judge(context, run, acting).retryAfter;
  return end(run, 'block', { status: 429, rule });
}

/** Ends a request for one of the edge's own paths: the node answers it after the rate limits (semantics §4). */
export function answerOwnPath(context: Context, run: Run): boolean {
  return isEdgeOwn(context.facts) && end(run, 'respond', { status: 200, rule: null });
}

function breachEffect(context: Context, slot: number): Effect {
  const action = BREACH_ACTIONS[slotWord(context, slot, SLOT.flags) >>> FLAG_ACTION_SHIFT];
  return action === 'captcha' ? 'challenge' : 'block';
}

/** Requests the rule lets through in a window: twice as many for a visitor who has solved its challenge. */
function allowanceOf(context: Context, slot: number): number {
  const { capacity, doubled } = windowOf(context, slot);
  const solved = doubled && isCleared(context.facts, context.loaded, slot);
  return solved ? capacity * 2 : capacity;
}

/** Counts the request once; the shadow reads the real run's result, and peeks if the real run has not counted. */
function judge(context: Context, run: Run, slot: number): RateResult {
  const known = context.memo.rates.get(slot);
  if (known !== undefined) return known;
  const { counters, facts } = context;
  const window = windowOf(context, slot);
  const out = { breached: false, count: 0, retryAfter: 0 };
  const allowance = allowanceOf(context, slot);
  const key = keyOf(facts, window);
  if (run.shadow && !isDryRun(context, slot)) counters.peek(window, key, facts.now, allowance, out);
  else counters.hit(window, key, facts.now, allowance, out);
  context.memo.rates.set(slot, out);
  return out;
}

/** The window of a rule, made at its first use. */
function windowOf(context: Context, slot: number): RateWindow {
  const known = context.windows.get(slot);
  if (known !== undefined) return known;
  const { loaded } = context;
  const { words, meta } = loaded.plan;
  const fields = slotWord(context, slot, SLOT.fields);
  const domain = textOf(loaded, meta[META.domain]!);
  const key = keyOfSlot(loaded, slot);
  const identity = key === '' ? slotWord(context, slot, SLOT.id) : key;
  const window: RateWindow = {
    ...counterPlace(domain, identity, isDryRun(context, slot)),
    capacity: words[fields + RATE_FIELDS.limit]! + words[fields + RATE_FIELDS.burst]!,
    doubled: breachEffect(context, slot) === 'challenge',
    windowMs: words[fields + RATE_FIELDS.window]! * 1000,
    perPath: words[fields + RATE_FIELDS.perPath] === 1,
  };
  context.windows.set(slot, window);
  return window;
}

/**
 * Where a rule counts. A rule whose identity is a key counts in a space of its own, `dry_run` counts apart from enforced ones.
 * @param identity the rule's id, or its key
 */
export function counterPlace(
  domain: string,
  identity: number | string,
  dryRun: boolean,
): Pick<RateWindow, 'space' | 'slot'> {
  const space = dryRun ? `dry_run ${domain}` : domain;
  if (typeof identity === 'number') return { space: counterSpace(space), slot: identity };
  return { space: counterSpace(`${space} ${identity}`), slot: 0 };
}

function keyOf(facts: Facts, window: RateWindow): RateKey {
  const family = ipOf(facts) as 0 | 4 | 6;
  return { family, words: facts.ipWords, path: window.perPath ? countedPath(facts) : '' };
}

/** The canonical path without `;params` and without its trailing slash (semantics §5). */
function countedPath(facts: Facts): string {
  const path = facts.pathWithoutParameters ?? facts.path;
  return path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path;
}

/** The note of a trace about the edge's own paths. */
export function ownPathNote(context: Context, decision: Decision): string | null {
  const answers = decision.action === 'respond' && isEdgeOwn(context.facts);
  return answers ? 'the edge answers /.well-known/edgeplan/ itself' : null;
}

/** What a trace says of rate_limit rules. */
export const rateLimitExplanation: RuleExplanation = {
  reason: (settled, slot, effect) => rateReason(settled, slot, effect !== 'counted'),
};

function rateReason({ context, rates }: Settled, slot: number, over: boolean): RuleReason {
  const result = rates.get(slot);
  const window = windowOf(context, slot);
  const { words } = context.loaded.plan;
  const seconds = words[slotWord(context, slot, SLOT.fields) + RATE_FIELDS.window]!;
  const family = ipOf(context.facts);
  const who = family === 0 ? 'unknown addresses' : formatIp(family as 4 | 6, context.facts.ipWords);
  const allowance = allowanceOf(context, slot);
  const what = `request ${result?.count ?? 1} of ${allowance} in ${seconds} s for ${who}`;
  const where = window.perPath ? `${what} on this path` : what;
  return { code: over ? 'over_limit' : 'under_limit', text: where };
}
