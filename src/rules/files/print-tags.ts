/**
 * Tags that printed rules name. In: the rules in the order of the file. Out: each rule with tags as its
 * reader resolves them: by the id of the rule, by its key, or by the place that a file without ids numbers it with.
 */
import { hasConditions } from '../model/conditions.ts';
import { ruleOfTag, tagsOf, withHeaderTags, withTags } from '../model/tags.ts';
import type { Rule } from '../model/types.ts';

/** What rules are printed with. */
export interface TagNames {
  /** Whether rules have their ids in the file. */
  readonly ids: boolean;
  /** The rules are a part of the domain, so that a tag may name one that is not here. */
  readonly fragment: boolean;
  /** The keys of rules by `<type>/<id>`. */
  readonly ruleKeys: ReadonlyMap<string, string>;
}

/** Rules with their tags as they are printed. */
export interface PrintedTags {
  /** In the same order. */
  readonly rules: readonly Rule[];
  /** The id that a rule needs in the file so that tags can name it, by its id. */
  readonly numbered: ReadonlyMap<number, number>;
  /** Rules that applied to requests of deleted rules alone; no request has these tags, so they are printed disabled. */
  readonly untagged: readonly Rule[];
}

/** Translates the tags of rules. A tag of a deleted rule is left out: no request has it. */
export function printTags(ordered: readonly Rule[], { ids, fragment, ruleKeys }: TagNames): PrintedTags {
  if (fragment || ordered.every((rule) => tagsOf(rule).length === 0))
    return { rules: ordered, numbered: new Map(), untagged: [] };
  const named = ordered.map(({ type, id }, index) => {
    return { type, id, key: ruleKeys.get(`${type}/${id}`), place: index + 1 };
  });
  const numbered = new Map<number, number>();
  const untagged: Rule[] = [];
  const rename = (tag: string): string | null => {
    const rule = ruleOfTag(tag, named);
    if (rule === null) return null;
    if (ids) return `${rule.type}/${rule.id}`;
    if (rule.key !== undefined) return `${rule.type}/${rule.key}`;
    numbered.set(rule.id, rule.place);
    return `${rule.type}/${rule.place}`;
  };
  const rules = ordered.map((one): Rule => {
    const rule = withHeaderTags(one, rename);
    const { conditions: before, ...others } = rule;
    if (before?.tags === undefined) return rule;
    const conditions = withTags(before, rename);
    const renamed = hasConditions(conditions) ? { ...others, conditions } : others;
    if (before.tags.includes === undefined || conditions.tags?.includes !== undefined) return renamed as Rule;
    untagged.push(rule);
    // Without the tags it would apply to requests that it did not apply to.
    return { ...renamed, enabled: false } as Rule;
  });
  return { rules, numbered, untagged };
}
