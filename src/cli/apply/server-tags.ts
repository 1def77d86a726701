/**
 * Tags of a file's rules by ids of the server, which has no keys. In: the rules of the file and, type after type, those of the
 * server that they are paired with. Out: rules whose tags can be compared with the server's and sent to it.
 */
import type { RuleType } from '../../base/vocabulary/vocabulary.ts';
import { ruleOfTag, tagsOf, withHeaderTags, withTags } from '../../rules/model/tags.ts';
import type { Rule } from '../../rules/model/types.ts';
import { CommandFault, EXIT } from '../exit.ts';
import type { DesiredState } from './desired-state.ts';

/** Translates tags. */
export interface ServerTags {
  /** The rule with the tags of rules that are paired by their ids on the server. */
  translate(rule: Rule): Rule;
  /** Records a pair: rules of later types may name it. */
  pair(ours: Rule, theirs: Rule): void;
  /** The tags of rules that the server does not have yet, as `translate` writes them, with the file's ids. */
  readonly unmade: ReadonlyMap<string, number>;
}

/** Starts without pairs. */
export function createServerTags({ rules, sources }: DesiredState): ServerTags {
  const named = rules.map(({ type, id }) => ({ type, id, key: sources.rules.get(id)?.key ?? undefined }));
  const ids = new Map<number, number>();
  const unmade = new Map<string, number>();
  const tagOf = (tag: string): string => {
    const rule = ruleOfTag(tag, named);
    // A fragment names rules of the server that it does not have.
    if (rule === null) return tag;
    const id = ids.get(rule.id);
    if (id !== undefined) return `${rule.type}/${id}`;
    // Equal to no tag of the server, also if the key is a number.
    const text = `${rule.type}/${rule.key ?? rule.id} (new)`;
    unmade.set(text, rule.id);
    return text;
  };
  return {
    unmade,
    pair: (ours, theirs) => void ids.set(ours.id, theirs.id),
    translate: (rule) => translated(rule, tagOf),
  };
}

/** Whether a rule names one that the server does not have yet. */
export function namesUnmade(rule: Rule, unmade: ReadonlyMap<string, number>): boolean {
  return tagsOf(rule).some(({ tag }) => unmade.has(tag));
}

/**
 * The rule as it is sent, once the rules that it names are made.
 * @param made ids on the server by those of the file
 * @throws CommandFault when the server has not answered the id of one
 */
export function withMadeTags(
  rule: Rule,
  unmade: ReadonlyMap<string, number>,
  made: ReadonlyMap<number, number>,
): Rule {
  return translated(rule, (tag) => {
    const ours = unmade.get(tag);
    if (ours === undefined) return tag;
    const theirs = made.get(ours);
    if (theirs !== undefined) return `${typeIn(tag)}/${theirs}`;
    throw new CommandFault(EXIT.server, `the server has not answered the id of \`${tag}\``, {
      remedy: 'apply the file again',
    });
  });
}

function typeIn(tag: string): RuleType {
  return tag.slice(0, tag.indexOf('/')) as RuleType;
}

function translated(rule: Rule, tagOf: (tag: string) => string): Rule {
  const named = withHeaderTags(rule, tagOf);
  if (named.conditions?.tags === undefined) return named;
  return { ...named, conditions: withTags(named.conditions, tagOf) };
}
