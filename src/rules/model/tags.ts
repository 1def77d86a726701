/**
 * Tags that conditions and values of headers rules name (semantics §12, §14): each is `<type>/<id>`, `<type>/<key>` or the key
 * of a rule that tags requests and is evaluated before the rule that names it. In: an entry and the rules that are known. Out: the rule
 * that is meant, or what is wrong with the entry.
 */
import { type FieldPath, quoteValue } from '../../base/diagnostics/diagnostic.ts';
import { RULE_TYPES, type RuleType } from '../../base/vocabulary/vocabulary.ts';
import type { Conditions } from './conditions.ts';
import { parseHeaderValue, withValueTags } from './header-values.ts';
import type { Problem } from './report.ts';
import { headerEntries, type MessageChanges } from './rules/headers.ts';

/** The types whose rules tag requests. */
export const TAGGING_TYPES = ['fingerprint', 'bot_route'] as const satisfies readonly RuleType[];

/** A rule that a tag may name. */
export interface NameableRule {
  readonly type: RuleType;
  readonly id: number;
  /** Absent: the rule has no key. */
  readonly key?: string | undefined;
}

/** The tagging types that are evaluated before a type. */
export function taggingBefore(type: RuleType): readonly RuleType[] {
  return TAGGING_TYPES.filter((tagging) => RULE_TYPES.indexOf(tagging) < RULE_TYPES.indexOf(type));
}

/** The rule that a tag names, by its key before its id; `null`: none of these. */
export function ruleOfTag<R extends NameableRule>(tag: string, rules: readonly R[]): R | null {
  const slash = tag.indexOf('/');
  if (slash < 0) return rules.find(({ key }) => key === tag) ?? null;
  const [type, name] = [tag.slice(0, slash), tag.slice(slash + 1)];
  const ofType = rules.filter((rule) => rule.type === type);
  return ofType.find(({ key }) => key === name) ?? ofType.find(({ id }) => String(id) === name) ?? null;
}

/** Rules that a remedy names. */
const MOST_NAMED = 8;

/** What is wrong with a tag in the conditions of a rule of a type; `null`: nothing. @param rules all that are known */
export function judgeTag(tag: string, type: RuleType, rules: readonly NameableRule[]): Problem | null {
  const meant = ruleOfTag(tag, rules);
  const before = taggingBefore(type);
  if (meant !== null && before.includes(meant.type)) return null;
  const tagging = rules.filter((rule) => before.includes(rule.type));
  return {
    code: 'no_tagging_rule',
    message: messageOf(meant, type),
    found: quoteValue(tag),
    remedy: before.length === 0 ? 'leave `tags` out' : remedyOf(tagging, before),
  };
}

function messageOf(meant: NameableRule | null, type: RuleType): string {
  if (taggingBefore(type).length === 0)
    return `must not be in a rule of type \`${type}\`, before which no rule tags requests`;
  if (meant === null) return 'names no rule that tags requests';
  return (TAGGING_TYPES as readonly RuleType[]).includes(meant.type)
    ? `names a rule of type \`${meant.type}\`, which is not evaluated before rules of type \`${type}\``
    : `names a rule of type \`${meant.type}\`, which tags no request`;
}

function remedyOf(tagging: readonly NameableRule[], before: readonly RuleType[]): string {
  if (tagging.length === 0) {
    const types = before.map((one) => `\`${one}\``).join(' or ');
    return `add a rule of type ${types} first, which tags requests`;
  }
  const named = tagging.slice(0, MOST_NAMED).map(({ type, id, key }) => `\`${type}/${key ?? id}\``);
  const more = tagging.length > MOST_NAMED ? ` or ${tagging.length - MOST_NAMED} more` : '';
  return `name ${named.join(', ')}${more}`;
}

/** The parts of a rule that may name tags. */
interface NamingRule {
  readonly conditions?: Conditions | undefined;
  readonly request?: MessageChanges | undefined;
  readonly response?: MessageChanges | undefined;
}

/** A tag that a rule names, with its path below the rule. */
interface NamedTag {
  readonly tag: string;
  readonly path: FieldPath;
}

/** The tags that a rule names, in its conditions and in values of headers. */
export function tagsOf(rule: NamingRule): readonly NamedTag[] {
  return [...conditionTags(rule), ...headerTags(rule)];
}

function conditionTags({ conditions }: NamingRule): readonly NamedTag[] {
  return (['includes', 'excludes'] as const).flatMap((list) =>
    (conditions?.tags?.[list] ?? []).map((tag, index) => ({
      tag,
      path: ['conditions', 'tags', list, index],
    })),
  );
}

function headerTags(rule: NamingRule): readonly NamedTag[] {
  if (rule.request === undefined && rule.response === undefined) return [];
  return headerEntries(rule).flatMap(({ value, path }) => {
    const parsed = parseHeaderValue(value ?? '');
    const pieces = parsed.ok ? parsed.pieces : [];
    return pieces.flatMap((piece) => (piece.kind === 'tag' ? [{ tag: piece.tag, path }] : []));
  });
}

/** The rule with each tag in values of headers replaced; one without a replacement stays. */
export function withHeaderTags<R extends NamingRule>(rule: R, replace: (tag: string) => string | null): R {
  if (headerTags(rule).length === 0) return rule;
  const changed = (['request', 'response'] as const).flatMap((side) => {
    const changes = rule[side];
    return changes === undefined ? [] : [[side, replacedIn(changes, replace)] as const];
  });
  return { ...rule, ...Object.fromEntries(changed) };
}

function replacedIn(changes: MessageChanges, replace: (tag: string) => string | null): MessageChanges {
  return Object.fromEntries(
    Object.entries(changes).map(([op, part]) => {
      if (part === undefined || Array.isArray(part)) return [op, part];
      const values = Object.entries(part).map(([name, value]) => [name, withValueTags(value, replace)]);
      return [op, Object.fromEntries(values)];
    }),
  );
}

/** The conditions with each tag replaced; a tag without a replacement is left out, and so is a list without tags. */
export function withTags(conditions: Conditions, replace: (tag: string) => string | null): Conditions {
  const { tags, ...others } = conditions;
  if (tags === undefined) return conditions;
  const lists = (['includes', 'excludes'] as const).flatMap((list) => {
    const replaced = tags[list]?.flatMap((tag) => replace(tag) ?? []) ?? [];
    return replaced.length === 0 ? [] : [[list, replaced] as const];
  });
  if (lists.length === 0) return others;
  // In the order of the members, as stored conditions are.
  return Object.fromEntries(
    Object.keys(conditions).map((name) =>
      name === 'tags' ? [name, Object.fromEntries(lists)] : [name, others[name as keyof typeof others]],
    ),
  ) as Conditions;
}
