/** Resolves the names that tests use for rules: `<type>/<key>`, or `<type>/<id>` for a rule without a key. */
import type { SourcePlace } from '../../base/diagnostics/diagnostic.ts';
import { RULE_TYPES, type RuleType } from '../../base/vocabulary/vocabulary.ts';
import type { RuleRef } from '../../engine/evaluator/decision.ts';
import type { EdgeSources } from '../../rules/files/edge-file.ts';
import { nearest } from '../../rules/model/nearest.ts';
import { absoluteName } from '../../rules/model/record-name.ts';
import type { RuleSet } from '../../rules/model/types.ts';

/** The rule of a name, or a message with its remedy. */
export type NamedRule =
  | { readonly ok: true; readonly ref: RuleRef }
  | { readonly ok: false; readonly message: string; readonly remedy: string };

/** Names of the rules and records of one rule set. */
export interface RuleNames {
  /** Finds the rule or record of `<type>/<key or id>`. */
  find(text: string): NamedRule;
  /** The name of a rule in a test. */
  nameOf(ref: RuleRef): string;
  /** The name of a rule or record in clearances and tags of a decision. */
  textOf(ref: RuleRef): string;
  /** The place of a rule in the edge file. */
  placeOf(ref: RuleRef): SourcePlace | undefined;
}

/** Indexes the rules of a rule set by name. */
export function nameRules(ruleSet: RuleSet, sources: EdgeSources): RuleNames {
  const keyOf = (id: number): string => sources.rules.get(id)?.key ?? String(id);
  const { keys } = ruleSet;
  const refs = new Map(ruleSet.rules.map((rule) => [`${rule.type}/${keyOf(rule.id)}`, rule]));
  return {
    find(text) {
      const known = refs.get(text);
      if (known !== undefined) return found(known.type, known.id);
      const [, type = '', name = ''] = /^([^/]*)\/(.*)$/s.exec(text) ?? [];
      if (type === 'record') return findRecord(name, ruleSet);
      const byId = ruleSet.rules.find((rule) => rule.type === type && String(rule.id) === name);
      return byId === undefined ? unknown({ text, type, name }, [...refs.keys()]) : found(byId.type, byId.id);
    },
    nameOf: ({ type, id }) => (type === 'record' ? `record/${id}` : `${type}/${keyOf(id)}`),
    textOf({ type, id }) {
      const key = type === 'record' ? keys?.records.get(id) : keys?.rules.get(id);
      return `${type}/${key ?? id}`;
    },
    placeOf({ type, id }) {
      const source = type === 'record' ? sources.records.get(id) : sources.rules.get(id);
      return source === undefined
        ? undefined
        : { file: source.file, line: source.line, column: source.column };
    },
  };
}

/** A successful look-up. */
function found(type: RuleType | 'record', id: number): NamedRule {
  return { ok: true, ref: { type, id } };
}

/** Finds `record/12`, or `record/shop`: among records of one name the first with a challenge, else the first. */
function findRecord(name: string, { domain, records }: RuleSet): NamedRule {
  const wanted = absoluteName(name, domain.name);
  const same = records.filter((record) => absoluteName(record.name, domain.name) === wanted);
  const lowest = [...same].sort((a, b) => Number(b.captcha) - Number(a.captcha) || a.id - b.id)[0];
  const record = records.find(({ id }) => String(id) === name) ?? lowest;
  if (record !== undefined) return found('record', record.id);
  const closest = nearest(
    name,
    records.map((candidate) => candidate.name),
  );
  const remedy = closest === null ? 'write its name or its id' : `write \`record/${closest}\``;
  return { ok: false, message: `there is no record \`${name}\``, remedy };
}

/** A name that matched no rule, split at its slash. */
interface Lookup {
  readonly text: string;
  readonly type: string;
  readonly name: string;
}

/**
 * The message for an unknown name: the same key under another type, a misspelt type or key, or all rules of the
 * type.
 */
function unknown({ text, type, name }: Lookup, known: readonly string[]): NamedRule {
  const sameKey = known.find((ref) => ref.endsWith(`/${name === '' ? text : name}`));
  if (sameKey !== undefined) {
    return { ok: false, message: `there is no rule \`${text}\``, remedy: `write \`${sameKey}\`` };
  }
  if (!RULE_TYPES.some((candidate) => candidate === type)) {
    const closest = nearest(type, RULE_TYPES);
    const remedy =
      closest === null ? 'write <type>/<key>, such as drop/office-only' : `write \`${closest}/${name}\``;
    return { ok: false, message: `\`${type === '' ? text : type}\` is not a type of rule`, remedy };
  }
  const ofType = known.filter((ref) => ref.startsWith(`${type}/`));
  const closest = nearest(
    name,
    ofType.map((ref) => ref.slice(type.length + 1)),
  );
  if (closest !== null)
    return { ok: false, message: `there is no rule \`${text}\``, remedy: `write \`${type}/${closest}\`` };
  const remedy =
    ofType.length === 0
      ? `the edge file has no ${type} rule`
      : `write one of ${ofType.map((ref) => `\`${ref}\``).join(', ')}`;
  return { ok: false, message: `there is no rule \`${text}\``, remedy };
}
