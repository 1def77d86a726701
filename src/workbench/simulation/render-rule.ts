/** The word and the symbol of each outcome of a rule. */
import type { RuleNote } from './document.ts';
import { span, type TextSpan, type Tone, wholeSpan } from './render-text.ts';

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

/** The entry of the first failing check, such as `path_includes[0]`; `null` when no check failed. */
export function failedEntry(rule: RuleNote): string | null {
  const failed = rule.checks.find((check) => check.pass !== true);
  return failed === undefined ? null : (failed.entry ?? null);
}

/** The reason, the failing entry and the place in the file. */
export function reasonSpans(rule: RuleNote): readonly TextSpan[] {
  const entry = rule.outcome === 'skipped' ? failedEntry(rule) : null;
  const places = [entry, rule.at].filter((place) => place !== null);
  const reason = span(rule.reason.text, rule.outcome === 'matched' ? 'plain' : 'dim');
  return places.length === 0 ? [reason] : [reason, wholeSpan(`  ${places.join(' · ')}`, 'dim')];
}
