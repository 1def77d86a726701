/** Rules by the names tests call them: `<type>/<key>`, or `<type>/<id>` where a rule has no key. */
import type { SourcePlace } from '../../base/diagnostic.ts';
import { RULE_TYPES, type RuleType } from '../../base/vocabulary.ts';
import type { RuleRef } from '../../evaluator/decision.ts';
import type { EdgeSources } from '../../files/edge-file.ts';
import { nearest } from '../../model/nearest.ts';
import { absoluteName } from '../../model/record-name.ts';
import type { RuleSet } from '../../model/types.ts';

export type NamedRule =
  | { readonly ok: true; readonly ref: RuleRef }
  | { readonly ok: false; readonly message: string; readonly remedy: string };

export interface RuleNames {
  /** The rule (or record) that `<type>/<key or id>` means. */
  find(text: string): NamedRule;
  /** What a test would write for a rule. */
  nameOf(ref: RuleRef): string;
  /** How clearances and tags of a decision write the rule or record. */
  textOf(ref: RuleRef): string;
  /** Where the rule stands in the edge file. */
  placeOf(ref: RuleRef): SourcePlace | undefined;
}

/** The names of a rule set's rules. */
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
        : { file: sources.file, line: source.line, column: source.column };
    },
  };
}

function found(type: RuleType | 'record', id: number): NamedRule {
  return { ok: true, ref: { type, id } };
}

/** `record/12`, or `record/shop` for the first record of that name that asks for a challenge, else the first of all. */
function findRecord(name: string, { domain, records }: RuleSet): NamedRule {
  const wanted = absoluteName(name, domain.name);
  const same = records.filter((record) => absoluteName(record.name, domain.name) === wanted);
  const lowest = [...same].sort((a, b) => Number(b.captcha) - Number(a.captcha) || a.id - b.id)[0];
  const record = records.find(({ id }) => String(id) === name) ?? lowest;
  if (record !== undefined) return found('record', record.id);
  const meant = nearest(
    name,
    records.map((one) => one.name),
  );
  const remedy = meant === null ? 'write its name or its id' : `write \`record/${meant}\``;
  return { ok: false, message: `there is no record \`${name}\``, remedy };
}

interface Asked {
  readonly text: string;
  readonly type: string;
  readonly name: string;
}

function unknown({ text, type, name }: Asked, known: readonly string[]): NamedRule {
  const sameKey = known.find((ref) => ref.endsWith(`/${name === '' ? text : name}`));
  if (sameKey !== undefined) {
    return { ok: false, message: `there is no rule \`${text}\``, remedy: `write \`${sameKey}\`` };
  }
  if (!RULE_TYPES.some((one) => one === type)) {
    const meant = nearest(type, RULE_TYPES);
    const remedy =
      meant === null ? 'write <type>/<key>, such as drop/office-only' : `write \`${meant}/${name}\``;
    return { ok: false, message: `\`${type === '' ? text : type}\` is no type of rule`, remedy };
  }
  const ofType = known.filter((ref) => ref.startsWith(`${type}/`));
  const meant = nearest(
    name,
    ofType.map((ref) => ref.slice(type.length + 1)),
  );
  if (meant !== null)
    return { ok: false, message: `there is no rule \`${text}\``, remedy: `write \`${type}/${meant}\`` };
  const remedy =
    ofType.length === 0
      ? `the edge file has no ${type} rule`
      : `write one of ${ofType.map((ref) => `\`${ref}\``).join(', ')}`;
  return { ok: false, message: `there is no rule \`${text}\``, remedy };
}
