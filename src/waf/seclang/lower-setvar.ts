/** `setvar:` and `ctl:` as written → what a condition does when it holds. */
import type { WafSetVar } from '../../plan/signature-program.ts';
import type { DraftControl, IdRange } from './draft.ts';
import { lowerOneTarget } from './lower-targets.ts';
import { type OwnNames, readText } from './read-text.ts';
import { PASSED_CONTROLS } from './settings.ts';
import type { SecLangFinding } from './source.ts';
import { findVariable } from './variables.ts';

/** What an action comes to; nothing of it where it is knowingly passed over. */
export interface Lowered<T> {
  readonly done: T | null;
  readonly findings: readonly SecLangFinding[];
  readonly unsupported: readonly SecLangFinding[];
}

const PASSED = { done: null, findings: [], unsupported: [] };

function wrong<T>(finding: SecLangFinding): Lowered<T> {
  return { done: null, findings: [finding], unsupported: [] };
}

/** `tx.name=value`, `tx.name=+1`, `!tx.name`, `tx.name`. Variables of collections kept between requests are passed over. */
export function lowerSetVar(value: string, own: OwnNames): Lowered<WafSetVar> {
  const unset = value.startsWith('!');
  const assignment = (unset ? value.slice(1) : value).trim();
  const equals = nameEnd(assignment);
  const target = assignment.slice(0, equals).trim();
  const dot = target.search(/[.:]/);
  const collection = target.slice(0, Math.max(dot, 0));
  const found = `setvar:${value}`;
  const variable = findVariable(collection);
  if (variable.kind === 'empty') return PASSED;
  if (variable.kind !== 'kept' || variable.name !== 'TX' || dot + 1 >= target.length) {
    return wrong({
      message: 'only variables of TX can be set',
      found,
      remedy: 'write it as `setvar:tx.name=value`',
    });
  }
  const name = readText(target.slice(dot + 1), own);
  const lowerName = name.text.map((part) => {
    return part.kind === 'literal' ? { ...part, text: part.text.toLowerCase() } : part;
  });
  if (unset) return { done: { kind: 'unset', name: lowerName }, findings: [], unsupported: name.findings };
  const raw = equals === assignment.length ? '1' : assignment.slice(equals + 1);
  const sign = /^[+-](?=.)/.exec(raw)?.[0];
  const content = readText(sign === undefined ? raw : raw.slice(1), own);
  const unsupported = [...name.findings, ...content.findings];
  const shared = { name: lowerName, value: content.text };
  if (sign === undefined) return { done: { kind: 'set', ...shared }, findings: [], unsupported };
  return { done: { kind: 'add', ...shared, sign: sign === '+' ? 1 : -1 }, findings: [], unsupported };
}

/** Where the name ends: the first `=` that is not inside a macro. */
function nameEnd(assignment: string): number {
  let at = 0;
  while (at < assignment.length && assignment[at] !== '=') {
    const close = assignment.startsWith('%{', at) ? assignment.indexOf('}', at) : -1;
    at = close === -1 ? at + 1 : close + 1;
  }
  return at;
}

/** What `ctl:` may refer to among the rules. */
export interface RuleFinder {
  /** Ids of the rules whose message a pattern is found in; a sentence when it is no pattern. */
  readonly byMessage: (source: string) => readonly number[] | string;
}

const PROCESSORS = ['URLENCODED', 'MULTIPART', 'JSON', 'XML'] as const;
const MODES = ['On', 'Off', 'DetectionOnly'] as const;

/** `ruleRemoveById=1-9`, `ruleRemoveTargetByTag=tag;ARGS:id`, … */
export function lowerControl(value: string, rules: RuleFinder): Lowered<DraftControl> {
  const equals = value.indexOf('=');
  const name = (equals === -1 ? value : value.slice(0, equals)).trim().toLowerCase();
  const setting = equals === -1 ? '' : value.slice(equals + 1).trim();
  const found = `ctl:${value}`;
  if (name in PASSED_CONTROLS) return PASSED;
  switch (name) {
    case 'ruleremovebyid':
      return byId(setting, found, (ranges) => ({ kind: 'ruleRemoveById', ranges }));
    case 'ruleremovebytag':
      return { done: { kind: 'ruleRemoveByTag', source: setting }, findings: [], unsupported: [] };
    case 'ruleremovebymsg':
      return byMessage(setting, { found, rules }, (ranges) => ({ kind: 'ruleRemoveById', ranges }));
    case 'ruleremovetargetbyid':
    case 'ruleremovetargetbytag':
    case 'ruleremovetargetbymsg':
      return removeTarget(name, setting, { found, rules });
    case 'forcerequestbodyvariable':
      return choose({ setting, found }, ['On', 'Off'], (mode) => ({
        kind: 'forceRequestBodyVariable',
        on: mode === 'On',
      }));
    case 'requestbodyprocessor':
      return choose({ setting, found }, PROCESSORS, (processor) => ({
        kind: 'requestBodyProcessor',
        processor,
      }));
    case 'ruleengine':
      return choose({ setting, found }, MODES, (mode) => ({ kind: 'ruleEngine', mode }));
    default:
      return wrong({
        message: 'this control cannot be had here',
        found,
        remedy: 'take the action out of the rule',
      });
  }
}

type Make = (ranges: readonly IdRange[]) => DraftControl;

function byId(setting: string, found: string, make: Make): Lowered<DraftControl> {
  const ranges = readIds(setting);
  if (ranges === null) return wrong({ message: 'ids are numbers or ranges, such as `1,5-9`', found });
  return { done: make(ranges), findings: [], unsupported: [] };
}

interface Subject {
  readonly found: string;
  readonly rules: RuleFinder;
}

function byMessage(setting: string, { found, rules }: Subject, make: Make): Lowered<DraftControl> {
  const ids = rules.byMessage(setting);
  if (typeof ids === 'string') return wrong({ message: ids, found });
  return { done: make(ids.map((id) => ({ from: id, to: id }))), findings: [], unsupported: [] };
}

function removeTarget(name: string, setting: string, subject: Subject): Lowered<DraftControl> {
  const { found } = subject;
  const semicolon = setting.indexOf(';');
  if (semicolon === -1) {
    const remedy = 'write it as `ruleRemoveTargetById=942100;ARGS:id`';
    return wrong({ message: 'a target is missing', found, remedy });
  }
  const who = setting.slice(0, semicolon).trim();
  const target = lowerOneTarget(setting.slice(semicolon + 1));
  if ('message' in target) return wrong(target);
  const make: Make = (ranges) => ({ kind: 'ruleRemoveTargetById', ranges, target });
  if (name === 'ruleremovetargetbyid') return byId(who, found, make);
  if (name === 'ruleremovetargetbymsg') return byMessage(who, subject, make);
  return { done: { kind: 'ruleRemoveTargetByTag', source: who, target }, findings: [], unsupported: [] };
}

function choose<T extends string>(
  { setting, found }: { readonly setting: string; readonly found: string },
  options: readonly T[],
  make: (chosen: T) => DraftControl,
): Lowered<DraftControl> {
  const chosen = options.find((option) => option.toLowerCase() === setting.toLowerCase());
  if (chosen === undefined) return wrong({ message: `one of ${options.join(', ')} is meant here`, found });
  return { done: make(chosen), findings: [], unsupported: [] };
}

/** `942100`, `942100-942999`, several with commas or spaces; `null` when it is none. */
export function readIds(text: string): readonly IdRange[] | null {
  const ranges: IdRange[] = [];
  for (const piece of text.split(/[\s,]+/).filter((one) => one !== '')) {
    const range = /^(\d{1,10})(?:-(\d{1,10}))?$/.exec(piece);
    if (range === null) return null;
    ranges.push({ from: Number(range[1]), to: Number(range[2] ?? range[1]) });
  }
  return ranges.length === 0 ? null : ranges;
}

/** Whether an id lies in one of the ranges. */
export function inRanges(id: number, ranges: readonly IdRange[]): boolean {
  return ranges.some(({ from, to }) => id >= from && id <= to);
}
