/** Lowers targets: resolves the names of variables. */
import type { WrittenTarget } from './directives.ts';
import { ALWAYS_EMPTY, type DraftTarget, type DraftTargets } from './draft.ts';
import { parseTargets } from './parse-targets.ts';
import type { SecLangFinding } from './source.ts';
import { findVariable } from './variables.ts';

/** Targets and their errors. */
export interface LoweredTargets {
  /** Without those that have an error. */
  readonly targets: DraftTargets;
  /** Errors in any case. */
  readonly findings: readonly SecLangFinding[];
  /** Variables that are not supported: errors only if the rule remains in the program. */
  readonly unsupported: readonly SecLangFinding[];
}

/** Lowers a list of targets. */
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

/** Parses and lowers the target of a `ctl:ruleRemoveTargetById=1;ARGS:id`. */
export function lowerOneTarget(text: string): DraftTarget | SecLangFinding {
  const { targets, findings } = parseTargets(text);
  const [target, more] = targets;
  if (findings[0] !== undefined) return findings[0];
  if (target === undefined || more !== undefined || target.excluded || target.counted) {
    return { message: 'exactly one target is expected, without `!` or `&`', found: text };
  }
  const lowered = lowerTarget(target);
  if ('mistake' in lowered) return lowered.mistake;
  return 'unsupported' in lowered ? lowered.unsupported : lowered;
}

/** A target or an error. */
type LoweredTarget =
  | DraftTarget
  | { readonly mistake: SecLangFinding }
  | { readonly unsupported: SecLangFinding };

/** Lowers one target. */
function lowerTarget({ variable: name, selector }: WrittenTarget): LoweredTarget {
  const variable = findVariable(name);
  switch (variable.kind) {
    case 'unknown':
      return { mistake: { message: 'SecLang has no variable of this name', found: name } };
    case 'unsupported': {
      const remedy = 'take the target out of the rule, or the rule out of the text';
      return { unsupported: { message: 'this variable is not supported', found: name, remedy } };
    }
    case 'empty':
      return { variable: ALWAYS_EMPTY, selector: { kind: 'all' } };
    case 'supported':
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
