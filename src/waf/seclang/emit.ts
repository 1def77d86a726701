/** Drafts, specialised per level → the program's tables and rules. */
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
  type DraftCondition,
  type DraftControl,
  type DraftOperator,
  type DraftRule,
  type DraftTarget,
  type DraftTargets,
  NOTHING,
} from './draft.ts';
import { createPatternTable, type PatternTable, type RulePlace } from './patterns.ts';
import { plainText } from './read-text.ts';
import type { SecLangReport } from './source.ts';

/** One rule that a level keeps. */
export interface EmittedRule {
  readonly rule: DraftRule;
  /** See `WafRule.skipTo`. */
  readonly skipTo: number;
}

/** What specialisation leaves of a draft at one paranoia level. */
export interface LevelDraft {
  readonly rules: readonly EmittedRule[];
  readonly initial: Readonly<Record<string, string>>;
}

interface Tables {
  readonly targets: Interned<WafTargets>;
  readonly chains: Interned<readonly WafTransformation[]>;
  readonly phraseLists: Interned<WafPhraseList>;
  readonly literals: Interned<string>;
  readonly patterns: PatternTable;
  readonly report: SecLangReport;
  /** Where patterns were refused, so that each is told once whatever the levels. */
  readonly refused: Set<string>;
}

/** Equal values share one number. */
interface Interned<T> {
  readonly values: readonly T[];
  readonly add: (value: T) => number;
}

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

/** Builds the program. What cannot be had in a rule that is kept is an error, told once whatever the levels. */
export function emitProgram(
  levels: readonly LevelDraft[],
  name: string,
  report: SecLangReport,
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
  };
  tables.chains.add([]);
  reportUnsupported(levels, report);
  const emitted: WafLevel[] = levels.map(({ rules, initial }) => ({
    rules: rules.map((kept) => emitRule(kept, tables)),
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

function reportUnsupported(levels: readonly LevelDraft[], report: SecLangReport): void {
  const told = new Set<string>();
  for (const { rules } of levels) {
    for (const { rule } of rules) {
      for (const { place, unsupported } of rule.conditions) {
        for (const finding of unsupported) {
          const key = `${place.file}:${place.line}:${finding.found}`;
          if (!told.has(key)) report.error('unsupported', place, finding);
          told.add(key);
        }
      }
    }
  }
}

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

function emitTargets({ include, exclude }: DraftTargets, place: RulePlace, tables: Tables): WafTargets {
  return {
    include: include.flatMap((one) => {
      // There is nothing to look at, and still nothing to count.
      const [target = one.count ? EMPTY : null] = emitTarget(one, place, tables);
      return target === null ? [] : [{ ...target, count: one.count }];
    }),
    exclude: exclude.flatMap((one) => emitTarget(one, place, tables)),
  };
}

/** A variable that the run time has and that is empty for every request: its count is that of all such variables. */
const EMPTY: WafTarget = { variable: 'UNIQUE_ID', selector: { kind: 'all' } };

/** A target, or none where it is always empty. */
function emitTarget(
  { variable, selector }: DraftTarget,
  place: RulePlace,
  tables: Tables,
): readonly WafTarget[] {
  return variable === NOTHING ? [] : [{ variable, selector: emitSelector(selector, place, tables) }];
}

function emitSelector(selector: DraftTarget['selector'], place: RulePlace, tables: Tables): WafSelector {
  switch (selector.kind) {
    case 'all':
    case 'name':
      return selector;
    case 'pattern':
      return {
        kind: 'pattern',
        pattern: tables.patterns.intern(selector.source, { ignoreCase: true, place }),
      };
    default:
      return selector satisfies never;
  }
}

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

function internText(text: WafText, place: RulePlace, { patterns, report, refused }: Tables): number {
  const source = plainText(text);
  if (source !== null) return patterns.intern(source, { ignoreCase: false, place });
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

function emitControl(control: DraftControl, place: RulePlace, tables: Tables): readonly WafControl[] {
  const tagPattern = (source: string): number => tables.patterns.intern(source, { ignoreCase: false, place });
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
