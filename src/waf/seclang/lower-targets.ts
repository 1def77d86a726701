/** Targets as written → targets of a draft. */
import type { WrittenTarget } from './directives.ts';
import { type DraftTarget, type DraftTargets, NOTHING } from './draft.ts';
import { parseTargets } from './parse-targets.ts';
import type { SecLangFinding } from './source.ts';
import { findVariable } from './variables.ts';

export interface LoweredTargets {
  readonly targets: DraftTargets;
  /** Mistakes whatever becomes of the rule. */
  readonly findings: readonly SecLangFinding[];
  /** Variables that no program has. */
  readonly unsupported: readonly SecLangFinding[];
}

/** Resolves the names of a target list. */
export function lowerTargets(written: readonly WrittenTarget[]): LoweredTargets {
  const include: (DraftTarget & { count: boolean })[] = [];
  const exclude: DraftTarget[] = [];
  const findings: SecLangFinding[] = [];
  const unsupported: SecLangFinding[] = [];
  for (const target of written) {
    const lowered = lowerTarget(target);
    if ('mistake' in lowered) findings.push(lowered.mistake);
    else if ('unsupported' in lowered) unsupported.push(lowered.unsupported);
    else if (target.excluded) exclude.push(lowered);
    else include.push({ ...lowered, count: target.counted });
  }
  return { targets: { include, exclude }, findings, unsupported };
}

/** Reads one target as `ctl:ruleRemoveTargetById=1;ARGS:id` has it. */
export function lowerOneTarget(text: string): DraftTarget | SecLangFinding {
  const { targets, findings } = parseTargets(text);
  const [target, more] = targets;
  if (findings[0] !== undefined) return findings[0];
  if (target === undefined || more !== undefined || target.excluded || target.counted) {
    return { message: 'one target is named here, without `!` or `&`', found: text };
  }
  const lowered = lowerTarget(target);
  if ('mistake' in lowered) return lowered.mistake;
  return 'unsupported' in lowered ? lowered.unsupported : lowered;
}

type LoweredTarget =
  | DraftTarget
  | { readonly mistake: SecLangFinding }
  | { readonly unsupported: SecLangFinding };

function lowerTarget({ variable: name, selector }: WrittenTarget): LoweredTarget {
  const variable = findVariable(name);
  switch (variable.kind) {
    case 'unknown':
      return { mistake: { message: 'SecLang has no variable of this name', found: name } };
    case 'unsupported': {
      const remedy = 'take the target out of the rule, or the rule out of the text';
      return { unsupported: { message: 'this variable cannot be looked at here', found: name, remedy } };
    }
    case 'empty':
      return { variable: NOTHING, selector: { kind: 'all' } };
    case 'kept':
      if (selector === null) return { variable: variable.name, selector: { kind: 'all' } };
      if (!variable.collection) {
        const found = `${name}:${selector.text}`;
        return { mistake: { message: 'this variable has one value and takes no selector', found } };
      }
      if (selector.kind === 'pattern') {
        return { variable: variable.name, selector: { kind: 'pattern', source: selector.text } };
      }
      return { variable: variable.name, selector: { kind: 'name', name: selector.text } };
    default:
      return variable satisfies never;
  }
}
