/**
 * Finds fields of rules that do less than they appear to: bot kinds of no request, deprecated and ignored fields,
 * missing keys, exclusions and settings of waf rules.
 */
import { quoteValue } from '../../../base/diagnostics/diagnostic.ts';
import { isContentAddressed } from '../../../engine/evaluator/identity.ts';
import type { Rule, WafRule } from '../../../rules/model/types.ts';
import { knownOf } from '../rule-types.ts';
import type { Finding, LintContext, LintSignatures } from './finding.ts';

/**
 * Finds `google-extended`, which is a token for robots.txt: Google crawls with its ordinary User-Agents
 * (developers.google.com/search/docs/crawling-indexing/google-common-crawlers).
 */
export function lintBots({ enabled }: LintContext): readonly Finding[] {
  return enabled.flatMap((rule) => {
    if (rule.type !== 'bot_route') return [];
    const index = rule.bot_kinds.indexOf('google-extended');
    if (index < 0) return [];
    const alone = rule.bot_kinds.length === 1;
    const message = `has no User-Agent of its own, so no visitor is recognised as it${alone ? ' and the rule never acts' : ''}`;
    const remedy = 'write it in robots.txt; the crawler that visits is `googlebot`';
    const at = { rule, field: ['bot_kinds', index], found: quoteValue('google-extended') };
    return [{ ...at, code: 'google_extended', severity: 'warning', message, remedy }];
  });
}

// Finds fields that the API document calls deprecated or ignored.

/** Finds deprecated fields of every rule, disabled rules included, and `action_mode` on cache rules. */
export function lintDeprecated({ ruleSet, written }: LintContext): readonly Finding[] {
  return ruleSet.rules.flatMap((rule) => [
    ...recordId(rule, written),
    ...hostPattern(rule),
    ...cacheMode(rule, written),
  ]);
}

/** `record_id`, replaced by `record_ids`. */
function recordId(rule: Rule, written: LintContext['written']): readonly Finding[] {
  if (!written(rule, 'record_id')) return [];
  const message = 'is deprecated';
  const remedy = `write \`record_ids: [${rule.record_ids.join(', ')}]\``;
  return [{ code: 'deprecated_field', severity: 'warning', rule, field: ['record_id'], message, remedy }];
}

/** `host_pattern`, replaced by `host_includes`. */
function hostPattern(rule: Rule): readonly Finding[] {
  if (rule.host_pattern === '') return [];
  const at = { rule, field: ['host_pattern'], found: quoteValue(rule.host_pattern) };
  const remedy = `add \`${rule.host_pattern}\` to \`host_includes\``;
  return [{ ...at, code: 'deprecated_field', severity: 'warning', message: 'is deprecated', remedy }];
}

/**
 * `action_mode` on a cache rule, which the evaluator ignores; `dry_run` is a warning, since the rule is enforced.
 */
function cacheMode(rule: Rule, written: LintContext['written']): readonly Finding[] {
  if (rule.type !== 'cache') return [];
  const isDryRun = rule.action_mode === 'dry_run';
  if (!isDryRun && !written(rule, 'action_mode')) return [];
  const message = isDryRun ? 'is ignored by cache rules: this one is enforced' : 'is ignored by cache rules';
  const remedy = isDryRun
    ? 'set `enabled` to false to keep it from acting, or remove the field'
    : 'remove the field';
  const at = { rule, field: ['action_mode'], found: quoteValue(rule.action_mode) };
  return [{ ...at, code: 'action_mode_on_cache', severity: isDryRun ? 'warning' : 'info', message, remedy }];
}

// Finds rules of an edge file that have state beyond one request and no name that survives an edit (semantics §7,
// Identity).

/**
 * Finds enabled rules with neither `key` nor id that lose state when they are edited. Rules of the API have ids.
 */
export function lintKeys({ ruleSet, enabled }: LintContext): readonly Finding[] {
  const { keys } = ruleSet;
  if (keys === undefined) return [];
  return enabled.flatMap((rule) => {
    const key = keys.rules.get(rule.id);
    const state = knownOf(rule.type).state(rule);
    if (key === undefined || !isContentAddressed(key) || state === null) return [];
    const message = `is missing, so the rule is identified by its content: each edit of it resets ${state}`;
    const remedy = 'add a name that does not change, such as `key: login-limit`';
    return [{ code: 'missing_key', severity: 'info', rule, field: ['key'], message, remedy }];
  });
}

// Finds exclusions of waf rules that exclude nothing, and settings that inspect less than they appear to.

/** What one critical match adds to the score (semantics §5). */
const CRITICAL_SCORE = 5;

/** Checks every enabled waf rule. Exclusions are checked only if the signatures are known. */
export function lintWaf({ enabled, signatures }: LintContext): readonly Finding[] {
  return enabled.flatMap((rule) => {
    if (rule.type !== 'waf') return [];
    if (signatures === 'none') return [...settings(rule), uninspecting(rule)];
    const unmatched =
      signatures === null ? [] : [...unknownIds(rule, signatures), ...unknownExclusions(rule, signatures)];
    return [...settings(rule), ...unmatched];
  });
}

/** A waf rule of a node that is started with `--signatures none`. */
function uninspecting(rule: WafRule): Finding {
  const message = 'inspects nothing, since there are no signatures, so attacks pass';
  const remedy = 'name a set with --signatures or --crs, or give neither for the starter set';
  return { rule, field: ['type'], code: 'waf_no_signatures', severity: 'warning', message, remedy };
}

/** Settings that inspect less than they appear to. */
function settings(rule: WafRule): readonly Finding[] {
  const found: Finding[] = [];
  if (rule.paranoia === 1 && rule.threshold > CRITICAL_SCORE) {
    const message = `is above ${CRITICAL_SCORE}, the score of one critical match, so an attack that one signature detects passes`;
    const remedy = 'write 5, or try it first with `action_mode: dry_run`';
    const at = { rule, field: ['threshold'], found: String(rule.threshold) };
    found.push({ ...at, code: 'waf_threshold', severity: 'info', message, remedy });
  }
  if (rule.body_cap_kb === 0 && rule.paranoia > 1) {
    const message = `leaves bodies uninspected, which most signatures of paranoia ${rule.paranoia} inspect`;
    const at = { rule, field: ['body_cap_kb'], found: '0' };
    found.push({ ...at, code: 'waf_no_body', severity: 'info', message, remedy: 'write 128' });
  }
  return found;
}

/**
 * Ids in `rule_excludes` that the set does not have. The API accepts any text there, since an unknown id has no
 * effect.
 */
function unknownIds(rule: WafRule, signatures: LintSignatures): readonly Finding[] {
  return rule.rule_excludes.flatMap((text, index) => {
    const id = /^\d{1,15}$/.test(text) && String(Number(text)) === text ? Number(text) : null;
    if (id !== null && signatures.hasId(id)) return [];
    const message =
      id === null ? 'is not a signature id, so it excludes nothing' : unknown('signature', signatures);
    const remedy = id === null ? 'write one id an entry, such as `942100`' : REMEDY;
    const at = { rule, field: ['rule_excludes', index], found: quoteValue(text) };
    return [{ ...at, code: 'unknown_signature', severity: 'warning', message, remedy }];
  });
}

/** Entries of `exclusions` whose id or tag the set does not have. */
function unknownExclusions(rule: WafRule, signatures: LintSignatures): readonly Finding[] {
  return rule.exclusions.flatMap(({ id, tag }, index): readonly Finding[] => {
    const part = id === null ? 'tag' : 'id';
    if (id === null ? signatures.hasTag(tag) : signatures.hasId(id)) return [];
    const code = id === null ? 'unknown_tag' : 'unknown_signature';
    const message = unknown(id === null ? 'signature with this tag' : 'signature', signatures);
    const found = id === null ? quoteValue(tag) : String(id);
    const at = { rule, field: ['exclusions', index, part], found };
    return [{ ...at, code, severity: 'warning', message, remedy: REMEDY }];
  });
}

/** The remedy for an id or tag that the set does not have. */
const REMEDY = 'remove it, or name the set that has it with --signatures or --crs';

/** The message for an id or tag that the set does not have. */
function unknown(what: string, { name }: LintSignatures): string {
  return `names no ${what} of ${name}, so it excludes nothing`;
}
