/**
 * The checks that rules of any type have (records, hosts, paths), and what `explain` asks of a rule type: its own checks and
 * reasons, which are in its file of `phases/`. Each check is evaluated, also after one that fails, and described.
 */
import { BOT_KINDS } from '../../base/vocabulary/vocabulary.ts';
import { FILTER, FLAG, NONE, SLOT, typeNumber } from '../plan/layout.ts';
import type { Decision, Effect } from './decision.ts';
import { botOf, type Facts, OTHER_BOT } from './facts.ts';
import { sourceOf } from './loaded.ts';
import { hostEntry, inScope, pathEntry } from './predicates.ts';
import { type Context, type CountedRate, slotWord } from './run.ts';
import type { CheckName, CheckTrace, ReasonCode, RuleTrace } from './trace.ts';

/** A check's result, with the reason that it gives a rule for being skipped. */
export interface JudgedCheck extends CheckTrace {
  readonly failure: ReasonCode;
  /** The rule has this filter. Without one everything passes the check. */
  readonly filters: boolean;
}

/** Why a rule has its outcome, with its code. */
export type RuleReason = RuleTrace['reason'];

/** A decision whose rules are explained. */
export interface Settled {
  readonly context: Context;
  readonly decision: Decision;
  /** The results of the rate limits, by slot. */
  readonly rates: ReadonlyMap<number, CountedRate>;
  /** The rule that pinned the origin, as text. */
  readonly pinnedBy: string | null;
}

/** What `explain` says of the rules of one type beyond what it says of every rule. */
export interface RuleExplanation {
  /** `false`: the type has no path filter. */
  readonly hasPaths?: false;
  /** The checks of the filters that only this type has. */
  readonly checks?: (context: Context, slot: number) => readonly JudgedCheck[];
  /** Why a matched rule has an effect; `null`: as any rule with that effect. */
  readonly reason?: (settled: Settled, slot: number, effect: Effect) => RuleReason | null;
  /** The status of its own that a matched rule answers; `null`: that of its type. */
  readonly status?: (context: Context, slot: number) => number | null;
  /** Why a rule did not act whose phase was reached and whose filters hold; `null`: another one comes first. */
  readonly overridden?: (settled: Settled) => RuleReason | null;
  /** The outcome of a rule that is evaluated on the response, whose filters hold. */
  readonly ofResponse?: (settled: Settled, slot: number) => Pick<RuleTrace, 'outcome' | 'reason'>;
}

/** The result of a filter that the rule has. `pass` is `null` if the request lacks the fact it needs. */
export function judged(
  check: CheckName,
  pass: boolean | null,
  text: string,
  failure: ReasonCode,
  entry?: string,
): JudgedCheck {
  return { check, pass, text, failure, filters: true, ...(entry === undefined ? {} : { entry }) };
}

/** A filter the rule does not have: everything passes it. */
export function unfiltered(check: CheckName, text: string, failure: ReasonCode, entry?: string): JudgedCheck {
  return { ...judged(check, true, text, failure, entry), filters: false };
}

/** Entries that are printed of a list; the count of the others follows. */
const SHOWN = 4;

/** Characters of a value that a step of the trace repeats: a trace has a step for every rule. */
const SHOWN_CHARACTERS = 256;

/** A text, or its beginning and its length. */
function shortText(text: string): string {
  return text.length <= SHOWN_CHARACTERS
    ? text
    : `${text.slice(0, SHOWN_CHARACTERS)}… (${text.length} characters)`;
}

/** A list as it is printed: `[a, b, c, d, 12 more]`. */
export function listText(entries: readonly string[]): string {
  const shown = entries.slice(0, SHOWN).map(shortText);
  if (entries.length > SHOWN) shown.push(`${entries.length - SHOWN} more`);
  return `[${shown.join(', ')}]`;
}

/** The check of the records that the rule is scoped to. */
export function scopeCheck(context: Context, slot: number): JudgedCheck {
  const scope = slotWord(context, slot, SLOT.scope);
  if (scope === NONE) return unfiltered('scope', 'every proxied record', 'out_of_scope');
  const { host } = context.facts;
  return inScope(context.loaded, scope, context.facts)
    ? judged('scope', true, `a record of ${host} is in record_ids`, 'out_of_scope', 'record_ids')
    : judged('scope', false, `no record of ${host} is in record_ids`, 'out_of_scope', 'record_ids');
}

/** The include and exclude lists of a host or path filter, as offsets in `words`. */
interface PatternLists {
  readonly includes: readonly string[];
  readonly excludes: readonly string[];
  readonly from: number;
  readonly middle: number;
  readonly end: number;
}

/** The lists of the filter at `offset`. */
function listsAt(context: Context, offset: number): PatternLists {
  const { words } = context.loaded.plan;
  const from = offset + FILTER.patterns;
  const middle = from + words[offset + FILTER.includes]!;
  const end = middle + words[offset + FILTER.excludes]!;
  const sources = [...words.subarray(from, end)].map((pattern) => sourceOf(context.loaded, pattern));
  const count = middle - from;
  return { includes: sources.slice(0, count), excludes: sources.slice(count), from, middle, end };
}

/** The check of the host filter. */
export function hostCheck(context: Context, slot: number): JudgedCheck {
  const { host } = context.facts;
  const offset = slotWord(context, slot, SLOT.host);
  if (offset === NONE) return unfiltered('host', 'no host filter', 'host_not_included');
  const lists = listsAt(context, offset);
  const excluded = hostEntry(context.loaded, lists.middle, lists.end, host);
  if (excluded >= 0) {
    const text = `host ${host} is carved out by host_excludes [${lists.excludes[excluded]}]`;
    return judged('host', false, text, 'host_excluded', `host_excludes[${excluded}]`);
  }
  if (lists.includes.length === 0)
    return judged('host', true, 'no host_includes, and not excluded', 'host_not_included');
  const patternLast = (slotWord(context, slot, SLOT.flags) & FLAG.hostPattern) !== 0;
  const name = (entry: number): string =>
    patternLast && entry === lists.includes.length - 1 ? 'host_pattern' : `host_includes[${entry}]`;
  const included = hostEntry(context.loaded, lists.from, lists.middle, host);
  if (included >= 0) {
    return judged(
      'host',
      true,
      `${host} matches ${lists.includes[included]}`,
      'host_not_included',
      name(included),
    );
  }
  const text = `host ${host} is not in host_includes ${listText(lists.includes)}`;
  return judged('host', false, text, 'host_not_included', name(0));
}

const GATEWAY = typeNumber('gateway');

/** The check of the path filter, over both forms of a path with `;params`; of a gateway the check of its base path. */
export function pathCheck(context: Context, slot: number): JudgedCheck {
  const { facts, loaded } = context;
  const offset = slotWord(context, slot, SLOT.path);
  const flags = slotWord(context, slot, SLOT.flags);
  const isGateway = (flags & FLAG.type) === GATEWAY;
  const entry = (index: number): string => (isGateway ? 'base_path' : `path_includes[${index}]`);
  if (offset === NONE)
    return unfiltered('path', `${shortText(facts.path)} matches /*`, 'path_not_included', entry(0));
  const lists = listsAt(context, offset);
  const both = (flags & FLAG.bothForms) !== 0;
  const excluded = pathEntry(loaded, { from: lists.middle, to: lists.end }, facts, !both);
  if (excluded >= 0) {
    const text = `path ${shortText(facts.path)} is carved out by path_excludes [${shortText(lists.excludes[excluded]!)}]`;
    return judged('path', false, text, 'path_excluded', `path_excludes[${excluded}]`);
  }
  if (lists.includes.length === 0) return unfiltered('path', 'every path', 'path_not_included');
  const included = pathEntry(loaded, { from: lists.from, to: lists.middle }, facts, both);
  if (included >= 0) {
    const text = `${shortText(facts.path)} matches ${shortText(lists.includes[included]!)}`;
    return judged('path', true, text, 'path_not_included', entry(included));
  }
  const text = isGateway
    ? `path ${shortText(facts.path)} is not below base_path ${shortText(lists.includes[0]!)}`
    : `path ${shortText(facts.path)} is not in path_includes ${listText(lists.includes)}`;
  return judged('path', false, text, 'path_not_included', entry(0));
}

/** ISO 3166-1 alpha-2 code of a country number (26 × first letter + second letter). */
export function countryCode(number: number): string {
  return String.fromCharCode(65 + Math.floor(number / 26), 65 + (number % 26));
}

/** A bot kind as it is printed. */
export function botText(context: Context): string | null {
  const { facts } = context;
  const kind = botOf(facts);
  if (kind < 0) return null;
  if (kind < OTHER_BOT) return BOT_KINDS[kind]!;
  const given: unknown = facts.request.bot;
  return typeof given === 'object' && given !== null && 'kind' in given ? String(given.kind) : null;
}

/** Whether the bot's kind is classified from the User-Agent or given by the embedder. */
export function botSource(facts: Facts): 'user-agent' | 'given' {
  return facts.request.bot === undefined ? 'user-agent' : 'given';
}
