/** What rules do to requests that they act on, as text that is equal for equal effects, and as words. */
import { isContentAddressed } from '../../engine/evaluator/identity.ts';
import { textOf } from '../../engine/evaluator/loaded.ts';
import { REWRITE_FIELDS, SLOT } from '../../engine/plan/layout.ts';
import { printFilter } from '../../engine/plan/print.ts';
import { type Printed, printFields } from '../../engine/plan/print-fields.ts';
import type { Subject, SubjectRule } from './subject.ts';

/** Fields of a printed rule that are filters. */
const FILTERS: readonly string[] = ['bot_kinds', 'match_ja4', 'match_ja4h', 'require_verified'];

/** The type's own fields of a rule, without its filters. */
export function effectFields({ loaded: { plan } }: Subject, { slot, type }: SubjectRule): Printed {
  const row = plan.slots.subarray(slot * SLOT.size, (slot + 1) * SLOT.size);
  const fields = Object.entries(printFields(plan, type, row)).filter(([name]) => !FILTERS.includes(name));
  return Object.fromEntries(fields);
}

/** Effects that were asked for: comparisons ask for each again and again. */
const KNOWN = new WeakMap<SubjectRule, string>();

/** The effect of a rule; rules that refuse a request with 403 have the same. */
export function effectOf(subject: Subject, rule: SubjectRule): string {
  const known = KNOWN.get(rule);
  if (known !== undefined) return known;
  const made = makeEffect(subject, rule);
  KNOWN.set(rule, made);
  return made;
}

function makeEffect(subject: Subject, rule: SubjectRule): string {
  const fields = effectFields(subject, rule);
  const blocks = rule.type === 'drop' || fields['action'] === 'drop' || fields['action'] === 'block';
  if (blocks) return 'block 403';
  const patterns = takesGroups(subject, rule) ? JSON.stringify(includesOf(subject, rule)) : '';
  return `${rule.type} ${JSON.stringify(fields)}${patterns}`;
}

/**
 * Whether a rewrite writes groups of its patterns into the path: what it does then depends on which of them is the first that
 * matches, not only on whether one does.
 */
export function takesGroups({ loaded }: Subject, { slot, type }: SubjectRule): boolean {
  if (type !== 'rewrite') return false;
  const { slots, words } = loaded.plan;
  const fields = slots[slot * SLOT.size + SLOT.fields]!;
  if (words[fields + REWRITE_FIELDS.regex] !== 1) return false;
  return textOf(loaded, words[fields + REWRITE_FIELDS.target]!).includes('$');
}

/** The patterns of paths that a rule includes, in their order. */
function includesOf({ loaded: { plan } }: Subject, { slot }: SubjectRule): unknown {
  return printFilter(plan, plan.slots[slot * SLOT.size + SLOT.path]!)?.['includes'];
}

/** `<type>/<key>`, or `<type>/<id>` if its author gave it no key. */
export function nameOfRule({ ref }: SubjectRule): string {
  const isKeyed = ref.key !== undefined && !isContentAddressed(ref.key);
  return `${ref.type}/${isKeyed ? ref.key : ref.id}`;
}
