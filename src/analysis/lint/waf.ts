/** Exclusions that leave out nothing, and settings of waf rules that look at less than they seem to. */
import { quoteValue } from '../../base/diagnostic.ts';
import type { WafRule } from '../../model/types.ts';
import type { Finding, LintContext, LintSignatures } from './finding.ts';

/** What one critical match adds to the score (semantics §5). */
const CRITICAL_SCORE = 5;

export function lintWaf({ live, signatures }: LintContext): readonly Finding[] {
  return live.flatMap((rule) => {
    if (rule.type !== 'waf') return [];
    const known = signatures === null ? [] : [...unknownIds(rule, signatures), ...idle(rule, signatures)];
    return [...settings(rule), ...known];
  });
}

function settings(rule: WafRule): readonly Finding[] {
  const found: Finding[] = [];
  if (rule.paranoia === 1 && rule.threshold > CRITICAL_SCORE) {
    const message = `is above ${CRITICAL_SCORE}, what one critical match scores, so an attack that one signature sees passes`;
    const remedy = 'write 5, or try it first with `action_mode: dry_run`';
    const at = { rule, field: ['threshold'], found: String(rule.threshold) };
    found.push({ ...at, code: 'waf_threshold', severity: 'info', message, remedy });
  }
  if (rule.body_cap_kb === 0 && rule.paranoia > 1) {
    const message = `leaves bodies out, which most signatures of paranoia ${rule.paranoia} are about`;
    const at = { rule, field: ['body_cap_kb'], found: '0' };
    found.push({ ...at, code: 'waf_no_body', severity: 'info', message, remedy: 'write 128' });
  }
  return found;
}

/** `rule_excludes` takes whatever a customer brings along; an id that is not there does no harm and nothing else. */
function unknownIds(rule: WafRule, signatures: LintSignatures): readonly Finding[] {
  return rule.rule_excludes.flatMap((text, index) => {
    const id = /^\d{1,15}$/.test(text) && String(Number(text)) === text ? Number(text) : null;
    if (id !== null && signatures.hasId(id)) return [];
    const message =
      id === null ? 'is no signature id, so it leaves nothing out' : unknown('signature', signatures);
    const remedy = id === null ? 'write one id an entry, such as `942100`' : REMEDY;
    const at = { rule, field: ['rule_excludes', index], found: quoteValue(text) };
    return [{ ...at, code: 'unknown_signature', severity: 'warning', message, remedy }];
  });
}

function idle(rule: WafRule, signatures: LintSignatures): readonly Finding[] {
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

const REMEDY = 'take it out, or name the set it is about with --signatures or --crs';

function unknown(what: string, { name }: LintSignatures): string {
  return `names no ${what} of ${name}, so it leaves nothing out`;
}
