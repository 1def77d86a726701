/** Writes specialised drafts to the tables and rules of a program. */
import type {
  SignatureProgram,
  SignatureRule,
  WafCondition,
  WafControl,
  WafLevel,
  WafOperator,
  WafPhraseList,
  WafSelector,
  WafTarget,
  WafTargets,
  WafText,
  WafTransformation,
} from '../../plan/signature-program.ts';
import {
  ALWAYS_EMPTY,
  type DraftCondition,
  type DraftControl,
  type DraftOperator,
  type DraftRule,
  type DraftTarget,
  type DraftTargets,
} from './draft.ts';
import { plainText } from './lower-targets.ts';
import { createPatternTable, type PatternTable, type RulePlace } from './patterns.ts';
import type { SecLangReport } from './source.ts';

/** A rule that remains at a level. */
export interface EmittedRule {
  readonly rule: DraftRule;
  /** `SignatureRule.skipTo`. */
  readonly skipTo: number;
}

/** The draft at one paranoia level. */
export interface LevelDraft {
  /** The remaining rules, in the order of execution. */
  readonly rules: readonly EmittedRule[];
  /** By name, the initial value of TX variables. */
  readonly initial: Readonly<Record<string, string>>;
}

/** The tables of the program under construction. */
interface Tables {
  /** Lists of targets. */
  readonly targets: Interned<WafTargets>;
  /** Transformation chains; number 0 is the empty one. */
  readonly chains: Interned<readonly WafTransformation[]>;
  /** Lists of `@pm`. */
  readonly phraseLists: Interned<WafPhraseList>;
  /** Phrases and required literals. */
  readonly literals: Interned<string>;
  readonly patterns: PatternTable;
  readonly report: SecLangReport;
  /** The places of patterns with request-dependent macros, so that each is reported once for all levels. */
  readonly refused: Set<string>;
  /** Counts a pattern of `@rx` that is compiled. */
  readonly onPattern: (source: string) => void;
}

/** A table in which equal values have one number. */
interface Interned<T> {
  readonly values: readonly T[];
  /** Returns the number of a value; adds it if it is new. */
  readonly add: (value: T) => number;
}

/** Creates an empty table. */
function interned<T>(): Interned<T> {
  const values: T[] = [];
  const numbers = new Map<string, number>();
  return {
    values,
    add: (value) => {
      const key = JSON.stringify(value);
      let number = numbers.get(key);
      if (number === undefined) {
        number = values.push(value) - 1;
        numbers.set(key, number);
      }
      return number;
    },
  };
}

/** What a program is built with. */
export interface EmitOptions {
  readonly name: string;
  readonly report: SecLangReport;
  /** `SignatureOptions.onProgress`. */
  readonly onProgress: (done: number, all: number) => void;
}

/** Builds the program; reports what is not supported in a remaining rule, once for all levels. */
export function emitProgram(
  levels: readonly LevelDraft[],
  { name, report, onProgress }: EmitOptions,
): SignatureProgram {
  const literals = interned<string>();
  const tables: Tables = {
    targets: interned(),
    chains: interned(),
    phraseLists: interned(),
    literals,
    patterns: createPatternTable(report, literals.add),
    report,
    refused: new Set(),
    onPattern: patternProgress(levels, onProgress),
  };
  tables.chains.add([]);
  reportUnsupported(levels, report);
  const emitted: WafLevel[] = levels.map(({ rules, initial }) => ({
    rules: rules.map((rule) => emitRule(rule, tables)),
    initial,
  }));
  return {
    name,
    targets: tables.targets.values,
    chains: tables.chains.values,
    patterns: tables.patterns.patterns,
    phraseLists: tables.phraseLists.values,
    literals: tables.literals.values,
    levels: emitted,
  };
}

/** Measures progress in characters of different patterns: compiling them takes nearly all the time. */
function patternProgress(
  levels: readonly LevelDraft[],
  onProgress: EmitOptions['onProgress'],
): Tables['onPattern'] {
  const left = new Set<string>();
  for (const { operator } of levels.flatMap(({ rules }) => rules.flatMap(({ rule }) => rule.conditions))) {
    const source = operator.kind === 'rx' ? plainText(operator.text) : null;
    if (source !== null) left.add(source);
  }
  let all = 0;
  for (const source of left) all += source.length;
  let done = 0;
  return (source) => {
    if (!left.delete(source)) return;
    done += source.length;
    onProgress(done, all);
  };
}

/** Reports `DraftCondition.unsupported` of the remaining rules. */
function reportUnsupported(levels: readonly LevelDraft[], report: SecLangReport): void {
  const reported = new Set<string>();
  for (const { rules } of levels) {
    for (const { rule } of rules) {
      for (const { place, unsupported } of rule.conditions) {
        for (const finding of unsupported) {
          const key = `${place.file}:${place.line}:${finding.found}`;
          if (!reported.has(key)) report.error('unsupported', place, finding);
          reported.add(key);
        }
      }
    }
  }
}

/** Emits one rule. */
function emitRule({ rule, skipTo }: EmittedRule, tables: Tables): SignatureRule {
  const { id, phase, disruption, reported, message, logData, severity, tags, category, paranoia } = rule;
  const conditions = rule.conditions.map((condition) => {
    return emitCondition(condition, { ...condition.place, rule: id }, tables);
  });
  return {
    id,
    phase,
    conditions,
    disruption,
    skipTo,
    reported,
    message,
    logData,
    severity,
    tags,
    category,
    paranoia,
  };
}

/** Emits one condition. */
function emitCondition(condition: DraftCondition, place: RulePlace, tables: Tables): WafCondition {
  const { negated, capture, multiMatch, setVars } = condition;
  return {
    targets:
      condition.targets === null ? -1 : tables.targets.add(emitTargets(condition.targets, place, tables)),
    chain: tables.chains.add(condition.chain),
    operator: emitOperator(condition.operator, place, tables),
    negated,
    capture,
    multiMatch,
    setVars,
    controls: condition.controls.flatMap((control) => emitControl(control, place, tables)),
  };
}

/** Emits a list of targets. */
function emitTargets({ include, exclude }: DraftTargets, place: RulePlace, tables: Tables): WafTargets {
  return {
    include: include.flatMap((one) => {
      // A target that is always empty has no members to inspect, but its count (0) can be compared.
      const [target = one.count ? EMPTY : null] = emitTarget(one, place, tables);
      return target === null ? [] : [{ ...target, count: one.count }];
    }),
    exclude: exclude.flatMap((one) => emitTarget(one, place, tables)),
  };
}

/** A supported variable that is empty for every request, in place of all others: their count is 0 too. */
const EMPTY: WafTarget = { variable: 'UNIQUE_ID', selector: { kind: 'all' } };

/** Emits a target; none if it is always empty. */
function emitTarget(
  { variable, selector }: DraftTarget,
  place: RulePlace,
  tables: Tables,
): readonly WafTarget[] {
  return variable === ALWAYS_EMPTY ? [] : [{ variable, selector: emitSelector(selector, place, tables) }];
}

/** Emits a selector; patterns of names ignore case. */
function emitSelector(selector: DraftTarget['selector'], place: RulePlace, tables: Tables): WafSelector {
  switch (selector.kind) {
    case 'all':
    case 'name':
      return selector;
    case 'pattern':
      return {
        kind: 'pattern',
        pattern: tables.patterns.intern(selector.source, { ignoreCase: true, place, selects: true }),
      };
    default:
      return selector satisfies never;
  }
}

/** Emits an operator. */
function emitOperator(operator: DraftOperator, place: RulePlace, tables: Tables): WafOperator {
  switch (operator.kind) {
    case 'rx':
      return { kind: 'rx', pattern: internText(operator.text, place, tables) };
    case 'pm': {
      const phrases = operator.phrases.map((phrase) => tables.literals.add(phrase));
      return { kind: 'pm', phrases: tables.phraseLists.add({ phrases }) };
    }
    default:
      return operator;
  }
}

/** The number of a pattern; 0 if it has macros that depend on the request, which is reported. */
function internText(
  text: WafText,
  place: RulePlace,
  { patterns, report, refused, onPattern }: Tables,
): number {
  const source = plainText(text);
  if (source !== null) {
    const number = patterns.intern(source, { ignoreCase: false, place, selects: false });
    onPattern(source);
    return number;
  }
  const found = text.map((part) =>
    part.kind === 'literal' ? part.text : `%{${part.variable}.${part.name}}`,
  );
  const key = `${place.file}:${place.line}`;
  if (refused.has(key)) return 0;
  refused.add(key);
  report.error('pattern', place, {
    message: 'a pattern whose macro depends on the request cannot be compiled ahead',
    found: found.join(''),
    remedy: 'compare with `@streq`, `@contains` or `@within` instead',
  });
  return 0;
}

/** Emits a `ctl`; none if its target is always empty. */
function emitControl(control: DraftControl, place: RulePlace, tables: Tables): readonly WafControl[] {
  const tagPattern = (source: string): number =>
    tables.patterns.intern(source, { ignoreCase: false, place, selects: true });
  switch (control.kind) {
    case 'ruleRemoveByTag':
      return [{ kind: 'ruleRemoveByTag', pattern: tagPattern(control.source) }];
    case 'ruleRemoveTargetById':
      return emitTarget(control.target, place, tables).map((target) => {
        return { kind: 'ruleRemoveTargetById', ranges: control.ranges, target };
      });
    case 'ruleRemoveTargetByTag':
      return emitTarget(control.target, place, tables).map((target) => {
        return { kind: 'ruleRemoveTargetByTag', pattern: tagPattern(control.source), target };
      });
    default:
      return [control];
  }
}
