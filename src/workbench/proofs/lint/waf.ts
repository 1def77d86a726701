/** Finds exclusions of waf rules that exclude nothing, and settings that inspect less than they appear to. */
import { quoteValue } from '../../../base/diagnostics/diagnostic.ts';
import type { WafRule } from '../../../rules/model/types.ts';
import type { Finding, LintContext, LintSignatures } from './finding.ts';

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
