/** Phase 4: every rule that matches counts; the first breached one acts. */
import { formatIp } from '../../../base/addresses/ip.ts';
import { BREACH_ACTIONS, RATE_PARTS, type RatePart } from '../../../base/vocabulary/vocabulary.ts';
import {
  FLAG_ACTION_SHIFT,
  META,
  NONE,
  RATE_FIELDS,
  RATE_OPTIONS,
  RATE_PART,
  SLOT,
  typeIndex,
} from '../../plan/layout.ts';
import {
  counterSpace,
  type RateKey,
  type RateResult,
  type RateWindow,
} from '../../rate-counters/counters.ts';
import type { RuleExplanation, RuleReason, Settled } from '../checks.ts';
import type { Decision, Effect } from '../decision.ts';
import { type Facts, ipOf, isEdgeOwn } from '../facts.ts';
import { isCleared, keyOfSlot } from '../identity.ts';
import { type LoadedPlan, textOf } from '../loaded.ts';
import { type PendingCount, policyName, type RateState } from '../rate-outcomes.ts';
import {
  acts,
  type Context,
  end,
  isDryRun,
  type LoadedPart,
  nextMatch,
  type PartedWindow,
  type Run,
  record,
  refOf,
  slotWord,
} from '../run.ts';
import { readSource } from '../values.ts';

const RATE_LIMIT = typeIndex('rate_limit');

/** Runs the phase; true when it ended the request. */
export function rateLimit(context: Context, run: Run): boolean {
  let acting = -1;
  for (let slot = nextMatch(context, RATE_LIMIT); slot >= 0; slot = nextMatch(context, RATE_LIMIT)) {
    const verdict = judge(context, run, slot);
    const mayAct = acts(context, run, slot);
    const effect = !verdict.breached || (mayAct && acting >= 0) ? 'counted' : breachEffect(context, slot);
    record(context, run, slot, effect);
    const isActing =
      verdict.breached && mayAct && acting < 0 && (effect === 'block' || !isEdgeOwn(context.facts));
    if (isActing) acting = slot;
    if (!run.shadow && !isDryRun(context, slot)) noteState(context, run, { slot, verdict, isActing });
  }
  run.isOverLimit = acting >= 0;
  if (acting < 0) return answerOwnPath(context, run);
  const rule = refOf(context, acting);
  if (breachEffect(context, acting) === 'challenge') return end(run, 'challenge', { status: 403, rule });
  run.retryAfter = judge(context, run, acting).retryAfter;
  return end(run, 'block', { status: 429, rule });
}

/** Whether an enforced rule would end the request. Counts nothing. */
export function wouldBreach(context: Context): boolean {
  const { counters, facts } = context;
  for (let slot = nextMatch(context, RATE_LIMIT); slot >= 0; slot = nextMatch(context, RATE_LIMIT)) {
    if (isDryRun(context, slot)) continue;
    if (breachEffect(context, slot) === 'challenge' && isEdgeOwn(facts)) continue;
    const window = windowOf(context, slot);
    const out = { breached: false, count: 0, retryAfter: 0 };
    counters.peek(window, keyOf(facts, window), facts.now, allowanceOf(context, slot), out);
    if (out.breached) return true;
  }
  return false;
}

/** Adds the state of a rule to those that the response states: of the one that acts, and of each with `headers`. */
function noteState(
  context: Context,
  run: Run,
  {
    slot,
    verdict,
    isActing,
  }: { readonly slot: number; readonly verdict: RateResult; readonly isActing: boolean },
): void {
  const window = windowOf(context, slot);
  if (!isActing && !window.stated) return;
  const quota = allowanceOf(context, slot);
  // Under `statuses` the request itself counts after its response.
  const used = window.statuses === null ? verdict.count : verdict.count - 1;
  const windowSec = window.windowMs / 1000;
  const state: RateState = {
    name: window.policy,
    quota,
    windowSec,
    remaining: Math.max(0, quota - used),
    resetSec: verdict.breached ? verdict.retryAfter : windowSec,
  };
  if (run.rateStates === null) run.rateStates = [state];
  else run.rateStates.push(state);
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
  const { statuses } = window;
  const counts = !run.shadow || isDryRun(context, slot);
  if (!counts || statuses !== null) counters.peek(window, key, facts.now, allowance, out);
  else counters.hit(window, key, facts.now, allowance, out);
  if (counts && statuses !== null) awaitStatus(context, { window, key, statuses });
  context.memo.rates.set(slot, out);
  return out;
}

/** Has the request count once the status of its response is known. */
function awaitStatus(
  { counters, facts, memo }: Context,
  { window, key, statuses }: { window: RateWindow; key: RateKey; statuses: readonly number[] },
): void {
  // The facts are those of the next request by then.
  const own: RateKey = { ...key, words: key.words.slice() };
  const pending: PendingCount = { counters, window, key: own, now: facts.now, statuses };
  if (memo.pending === null) memo.pending = [pending];
  else memo.pending.push(pending);
}

/** The window of a rule, made at its first use. */
function windowOf(context: Context, slot: number): PartedWindow {
  const known = context.windows.get(slot);
  if (known !== undefined) return known;
  const { loaded } = context;
  const { words, meta } = loaded.plan;
  const fields = slotWord(context, slot, SLOT.fields);
  const domain = textOf(loaded, meta[META.domain]!);
  const key = keyOfSlot(loaded, slot);
  const identity = key === '' ? slotWord(context, slot, SLOT.id) : key;
  const parts = partsOf(loaded, fields);
  const options = words[fields + RATE_FIELDS.options]!;
  const statuses = (options & RATE_OPTIONS.extended) === 0 ? NONE : words[fields + RATE_FIELDS.statuses]!;
  const window: PartedWindow = {
    ...counterPlace(domain, identity, isDryRun(context, slot)),
    capacity: words[fields + RATE_FIELDS.limit]! + words[fields + RATE_FIELDS.burst]!,
    doubled: breachEffect(context, slot) === 'challenge',
    windowMs: words[fields + RATE_FIELDS.window]! * 1000,
    ...(parts === null ? { perPath: (options & RATE_OPTIONS.perPath) !== 0, keyParts: [] } : keyedBy(parts)),
    ...countedBy(context, slot, statuses),
    stated: (options & RATE_OPTIONS.headers) !== 0,
    policy: policyName(slotWord(context, slot, SLOT.id), key),
  };
  context.windows.set(slot, window);
  return window;
}

/** The statuses that count, and whether a refusal by the rule itself is not one of them. @param at offset in `words`, or NONE */
function countedBy(context: Context, slot: number, at: number): Pick<PartedWindow, 'statuses' | 'isFree'> {
  if (at === NONE) return { statuses: null };
  const { words } = context.loaded.plan;
  const statuses = [...words.subarray(at + 1, at + 1 + words[at]!)];
  const refusal = breachEffect(context, slot) === 'challenge' ? 403 : 429;
  return { statuses, isFree: !statuses.includes(refusal) };
}

/** The parts of a rule's keys; `null`: the rule has none. */
function partsOf({ plan, conditions }: LoadedPlan, fields: number): readonly LoadedPart[] | null {
  const { words } = plan;
  if ((words[fields + RATE_FIELDS.options]! & RATE_OPTIONS.extended) === 0) return null;
  const rows = words[fields + RATE_FIELDS.parts]!;
  if (rows === NONE) return null;
  return Array.from({ length: words[rows]! }, (_, index) => {
    const row = rows + 1 + index * RATE_PART.size;
    const source = words[row + RATE_PART.source]!;
    return {
      kind: RATE_PARTS[words[row + RATE_PART.kind]!]!,
      source: source === NONE ? null : conditions!.sources.list[source]!,
    };
  });
}

/** Parts that visitors cannot vary without another address. */
const GIVEN: readonly RatePart[] = ['ip', 'country', 'asn'];

/** How keys of parts count: whether the address is one of them, and whether visitors choose others. */
function keyedBy(
  parts: readonly LoadedPart[],
): Pick<PartedWindow, 'perPath' | 'parts' | 'shared' | 'keyParts'> {
  const keyParts = parts.filter(({ kind }) => kind !== 'ip');
  const shared = keyParts.length === parts.length;
  return {
    perPath: shared ? keyParts.some(({ kind }) => !GIVEN.includes(kind)) : keyParts.length > 0,
    parts: counterSpace(parts.map(({ kind, source }) => `${kind} ${source?.name ?? ''}`).join()),
    shared,
    keyParts,
  };
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

function keyOf(facts: Facts, { perPath, keyParts }: PartedWindow): RateKey {
  const family = ipOf(facts) as 0 | 4 | 6;
  const words = facts.ipWords;
  if (keyParts.length === 0) return { family, words, path: perPath ? countedPath(facts) : '' };
  let path = '';
  // Each with its length, so that no other values are the same text.
  for (const part of keyParts) {
    const text = partText(part, facts);
    path += `${text.length}:${text}`;
  }
  return { family, words, path };
}

/** The text of a part: of several values the first; empty if the request has none. */
function partText({ source }: LoadedPart, facts: Facts): string {
  if (source === null) return countedPath(facts);
  readSource(source, facts);
  return source.count === 0 ? '' : source.texts[0]!;
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
  const fields = slotWord(context, slot, SLOT.fields);
  const seconds = words[fields + RATE_FIELDS.window]!;
  const allowance = allowanceOf(context, slot);
  const parts = partsOf(context.loaded, fields);
  const who =
    parts === null
      ? `${addressText(context.facts)}${window.perPath ? ' on this path' : ''}`
      : parts.map((part) => partWords(part, context.facts)).join(', ');
  const count = result?.count ?? 1;
  const counted =
    window.statuses === null
      ? `request ${count} of ${allowance}`
      : `${count - 1} of ${allowance} responses with ${window.statuses.join(', ')}`;
  const what = `${counted} in ${seconds} s for ${who}`;
  return { code: over ? 'over_limit' : 'under_limit', text: what };
}

function addressText(facts: Facts): string {
  const family = ipOf(facts);
  return family === 0 ? 'unknown addresses' : formatIp(family as 4 | 6, facts.ipWords);
}

/** A part of a key in words. Values of headers, cookies and parameters may be secrets: a trace has their names alone. */
function partWords(part: LoadedPart, facts: Facts): string {
  const { kind, source } = part;
  if (kind === 'ip') return addressText(facts);
  if (kind === 'path') return 'this path';
  const text = partText(part, facts);
  const known = source!.count > 0;
  switch (kind) {
    case 'country':
      return known ? `country ${text}` : 'unknown countries';
    case 'asn':
      return known ? `AS${text}` : 'unknown autonomous systems';
    case 'ja4':
      return known ? `JA4 ${text}` : 'unknown JA4';
    default:
      return `${known ? 'this value of' : 'no'} ${kind} ${source!.name}`;
  }
}
