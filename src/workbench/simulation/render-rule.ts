/**
 * Renders the outcome of rules: the word and the symbol of each, and the rules of a phase that need no line each,
 * folded.
 */
import type { CheckName, CheckTrace, ReasonCode } from '../../engine/evaluator/trace.ts';
import type { PhaseNote, RuleNote } from './document.ts';
import { dotted, type RenderedLine, span, type TextSpan, type Tone, wholeSpan } from './render-text.ts';

/** How an outcome is shown. */
export interface RuleVerdict {
  readonly symbol: '●' | '◇' | '·' | '○' | '~' | '✘';
  readonly word: string;
  readonly tone: Tone;
}

/** Words for the effects of enforced rules. */
const DONE: Readonly<Record<string, string>> = {
  block: 'blocked',
  challenge: 'challenged',
  tag: 'tagged',
  respond: 'answered',
  alt_origin: 'pinned',
  counted: 'counted',
  passed: 'passed',
  unavailable: 'unchecked',
  redirect: 'redirected',
  self_redirect: 'own URL',
  rewrite: 'rewritten',
  refuse: 'refused',
  cache: 'applied',
  origin: 'chosen',
  error_page: 'applied',
  headers: 'applied',
  none: 'matched',
};

/** Words for the effects of dry_run rules. */
const WOULD: Readonly<Record<string, string>> = {
  would_block: 'would block',
  would_challenge: 'would ask',
  would_tag: 'would tag',
  would_respond: 'would answer',
  would_alt_origin: 'would pin',
  would_redirect: 'would move',
  would_rewrite: 'would write',
  would_refuse: 'would refuse',
  would_cache: 'would cache',
  would_origin: 'would choose',
  would_error_page: 'would apply',
  would_headers: 'would apply',
};

/** Effects that refuse the visitor. */
const ENDING: ReadonlySet<string> = new Set(['block', 'challenge', 'refuse']);

/** The verdict of a rule that matched. */
function matchedVerdict(rule: RuleNote): RuleVerdict {
  const would = WOULD[rule.effect];
  if (would !== undefined) return { symbol: '◇', word: would, tone: 'warn' };
  const word = DONE[rule.effect] ?? 'matched';
  if (rule.mode === 'dry_run') return { symbol: '◇', word, tone: 'warn' };
  if (rule.effect === 'unavailable') return { symbol: '●', word, tone: 'warn' };
  return {
    symbol: ENDING.has(rule.effect) ? '✘' : '●',
    word,
    tone: ENDING.has(rule.effect) ? 'bad' : 'good',
  };
}

/** Returns the word and the symbol for a rule's outcome. */
export function verdictOf(rule: RuleNote): RuleVerdict {
  switch (rule.outcome) {
    case 'matched':
      return matchedVerdict(rule);
    case 'conditional':
      return { symbol: '~', word: 'depends', tone: 'accent' };
    case 'not_reached': {
      const isOverridden = rule.reason.code === 'overridden' || rule.reason.code === 'slot_taken';
      return { symbol: '○', word: isOverridden ? 'not used' : 'not reached', tone: 'dim' };
    }
    case 'skipped': {
      const { code } = rule.reason;
      const word = code === 'disabled' ? 'disabled' : code === 'out_of_scope' ? 'not in scope' : 'skipped';
      return { symbol: '·', word, tone: 'dim' };
    }
    default:
      return rule.outcome satisfies never;
  }
}

/** The names of a rule. */
interface NamedRule {
  readonly type: string;
  readonly id: number;
  readonly key: string | null;
}

/** `#57 embargo`. */
export function idOf({ id, key }: Pick<NamedRule, 'id' | 'key'>): string {
  return key === null ? `#${id}` : `#${id} ${key}`;
}

/** `drop #57 embargo`. */
export function labelOf(rule: NamedRule): string {
  return `${rule.type} ${idOf(rule)}`;
}

/** The first check that failed. */
function failedCheck({ checks }: RuleNote): CheckTrace | undefined {
  return checks.find(({ pass }) => pass !== true);
}

/** The entry of the first failing check, such as `path_includes[0]`; `null`: no check failed, or the reason names its list. */
export function failedEntry(rule: RuleNote): string | null {
  const entry = failedCheck(rule)?.entry ?? null;
  const isNamed =
    entry?.startsWith('conditions.') && rule.reason.text.includes(entry.replace(/\[\d+\]$/, ''));
  return isNamed ? null : entry;
}

/** The reason, the failing entry and the place in the file. */
export function reasonSpans(rule: RuleNote): readonly TextSpan[] {
  const entry = rule.outcome === 'skipped' ? failedEntry(rule) : null;
  const places = [entry, rule.at].filter((place) => place !== null);
  const reason = span(rule.reason.text, rule.outcome === 'matched' ? 'plain' : 'dim');
  return places.length === 0 ? [reason] : [reason, wholeSpan(`  ${places.join(' · ')}`, 'dim')];
}

// Folds the rules of a phase that need no line each: those skipped for the same kind of reason, out of scope,
// disabled, or not reached. What has, or may have, an effect is always shown.

/** The rules of a phase by how they are shown. */
export interface FoldedRules {
  /** Each has lines of its own. */
  readonly shown: readonly RuleNote[];
  /** Several that depend on the origin's answer; they share a line. */
  readonly waiting: readonly RuleNote[];
  /** They are only counted. */
  readonly folded: readonly RuleNote[];
}

/** Unused rules that a phase shows before it counts the others. */
const MOST_SHOWN = 12;

/** What a rule was skipped by, by its reason. */
const SKIPPED_BY: Readonly<Partial<Record<ReasonCode, string>>> = {
  host_not_included: 'host',
  host_excluded: 'host',
  path_not_included: 'path',
  path_excluded: 'path',
  country_not_listed: 'country',
  country_listed: 'country',
  ip_not_listed: 'address',
  ip_listed: 'address',
  bot_not_listed: 'bot',
  bot_unverified: 'bot',
  fingerprint_not_listed: 'fingerprint',
  status_not_listed: 'status',
};

/** What a condition that is not met reads; other checks have the name of it. */
const CONDITION_WORDS: Readonly<Partial<Record<CheckName, string>>> = {
  ip: 'address',
  kind: 'bot',
  verified: 'bot',
  ja4: 'fingerprint',
  asn: 'autonomous system',
  user_agent: 'User-Agent',
  query: 'query parameter',
};

/** What a rule was skipped by; `null`: its reason is shown in full. */
function skippedBy(rule: RuleNote): string | null {
  const { code } = rule.reason;
  if (code !== 'condition_not_met') return SKIPPED_BY[code] ?? null;
  const check = failedCheck(rule)?.check;
  return check === undefined ? null : (CONDITION_WORDS[check] ?? check);
}

/** What is said of a request whose fact a condition needs. */
const UNKNOWN_WORDS: Readonly<Partial<Record<CheckName, string>>> = {
  ip: 'no address given',
  country: 'no country given',
  asn: 'no autonomous system given',
  kind: 'no known bot',
  ja4: 'no JA4 given',
};

/** The fact that the request lacks; `null` when it lacks none. */
function lackOf(rule: RuleNote): string | null {
  const { reason, checks } = rule;
  switch (reason.code) {
    case 'condition_unknown':
      return UNKNOWN_WORDS[failedCheck(rule)?.check ?? 'enabled'] ?? 'a fact is not given';
    case 'country_unknown':
      return 'no country given';
    case 'ip_unknown':
      return 'no address given';
    case 'bot_not_classified':
      return 'no known bot';
    case 'missing_input': {
      const lacking = checks.find(({ pass }) => pass === null)?.check;
      return lacking === undefined ? 'a fact is not given' : `no ${lacking.toUpperCase()} given`;
    }
    default:
      return null;
  }
}

/** Whether a rule that was not reached needs no line: the request ended, or passed the phase, before. */
function isBehind({ outcome, reason }: RuleNote): boolean {
  return outcome === 'not_reached' && reason.code !== 'overridden' && reason.code !== 'slot_taken';
}

/** Whether a rule is skipped for a kind of reason that can be counted, or was excluded before its filters. */
function isCountable(rule: RuleNote): boolean {
  const { code } = rule.reason;
  if (isBehind(rule)) return true;
  if (rule.outcome !== 'skipped') return false;
  return code === 'disabled' || code === 'out_of_scope' || skippedBy(rule) !== null || lackOf(rule) !== null;
}

/** Whether a rule was skipped by one of its filters. */
function isFiltered({ outcome, reason: { code } }: RuleNote): boolean {
  return outcome === 'skipped' && code !== 'disabled' && code !== 'out_of_scope';
}

/**
 * Divides the rules of a phase. The only rule that its filters excluded is shown if the phase shows nothing else: its
 * reason takes the line that a count would.
 */
export function foldRules({ rules }: PhaseNote): FoldedRules {
  const countable = rules.filter(isCountable);
  const filtered = countable.filter(isFiltered);
  const sole = countable.length === rules.length && filtered.length === 1 ? filtered[0] : undefined;
  const conditional = rules.filter(({ outcome }) => outcome === 'conditional');
  const waiting = conditional.length > 1 ? conditional : [];
  let unused = 0;
  const isShown = (rule: RuleNote): boolean => {
    if (rule === sole) return true;
    if (isCountable(rule) || waiting.includes(rule)) return false;
    return rule.outcome !== 'not_reached' || ++unused <= MOST_SHOWN;
  };
  const shown = new Set(rules.filter(isShown));
  const folded = rules.filter((rule) => !shown.has(rule) && !waiting.includes(rule));
  return { shown: [...shown], waiting, folded };
}

/** Rules named by a line about several. */
const MOST_NAMED = 12;

/** `~ 3 depend on the status of the answer: #13 api-errors, #12 shop-down, #14`; empty without any. */
export function waitingLine(waiting: readonly RuleNote[]): RenderedLine {
  if (waiting.length === 0) return [];
  const named = waiting.slice(0, MOST_NAMED).map(idOf);
  const left = waiting.length - named.length;
  const names = [...named, ...(left === 0 ? [] : [`${left} more`])];
  const parts = names.map((name, index) => wholeSpan(index < names.length - 1 ? `${name}, ` : name, 'plain'));
  return [span(`${waiting.length} depend`, 'accent'), span(' on the status of the answer: '), ...parts];
}

/** Counts by a name, in order of first appearance. */
function tally(names: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}

/** `4 skipped by path`, `4 skipped by path (3), address (1)`; `null` without a kind. */
function skippedText(joint: string, kinds: readonly string[]): string | null {
  const counts = tally(kinds);
  if (kinds.length === 0) return null;
  const names = [...counts].map(([name, count]) => (counts.size === 1 ? name : `${name} (${count})`));
  return `${kinds.length} skipped${joint} ${names.join(', ')}`;
}

/** The numbers of folded rules by the kind of their reason; empty without any. */
export function foldLine(folded: readonly RuleNote[]): RenderedLine {
  const skipped = folded.filter(isFiltered);
  const count = (holds: (rule: RuleNote) => boolean, text: string): string | null => {
    const number = folded.filter(holds).length;
    return number === 0 ? null : `${number} ${text}`;
  };
  const unused = (rule: RuleNote): boolean => rule.outcome === 'not_reached' && !isBehind(rule);
  const parts = [
    skippedText(
      ' by',
      skipped.flatMap((rule) => skippedBy(rule) ?? []),
    ),
    skippedText(
      ':',
      skipped.flatMap((rule) => lackOf(rule) ?? []),
    ),
    count(isBehind, 'not reached'),
    count(unused, 'not used'),
    count(({ outcome, reason }) => outcome === 'skipped' && reason.code === 'out_of_scope', 'not in scope'),
    count(({ outcome, reason }) => outcome === 'skipped' && reason.code === 'disabled', 'disabled'),
  ];
  return dotted(parts, 'dim');
}
