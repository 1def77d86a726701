/** Lowers the actions `setvar` and `ctl`. */
import type { WafSetVar } from '../../plan/signature-program.ts';
import type { DraftControl, IdRange } from './draft.ts';
import { IGNORED_CONTROLS } from './ignored.ts';
import { findVariable, lowerOneTarget, type OwnNames, readText } from './lower-targets.ts';
import type { SecLangFinding } from './source.ts';

/** The result of an action; `done` is `null` if the action is ignored or has an error. */
export interface Lowered<T> {
  readonly done: T | null;
  /** Errors in any case. */
  readonly findings: readonly SecLangFinding[];
  /** What is an error only if the rule remains in the program. */
  readonly unsupported: readonly SecLangFinding[];
}

/** The result of an ignored action. */
const IGNORED = { done: null, findings: [], unsupported: [] };

/** The result of an action with an error. */
function wrong<T>(finding: SecLangFinding): Lowered<T> {
  return { done: null, findings: [finding], unsupported: [] };
}

/**
 * Lowers `tx.name=value`, `tx.name=+1`, `!tx.name` or `tx.name`; ignores variables of collections with state between
 * requests.
 */
export function lowerSetVar(value: string, own: OwnNames): Lowered<WafSetVar> {
  const unset = value.startsWith('!');
  const assignment = (unset ? value.slice(1) : value).trim();
  const equals = nameEnd(assignment);
  const target = assignment.slice(0, equals).trim();
  const dot = target.search(/[.:]/);
  const collection = target.slice(0, Math.max(dot, 0));
  const found = `setvar:${value}`;
  const variable = findVariable(collection);
  if (variable.kind === 'empty') return IGNORED;
  if (variable.kind !== 'supported' || variable.name !== 'TX' || dot + 1 >= target.length) {
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

/** The place of the first `=` that is not inside a macro, or the end of the text. */
function nameEnd(assignment: string): number {
  let at = 0;
  while (at < assignment.length && assignment[at] !== '=') {
    const close = assignment.startsWith('%{', at) ? assignment.indexOf('}', at) : -1;
    at = close === -1 ? at + 1 : close + 1;
  }
  return at;
}

/** Finds rules for `ctl` actions. */
export interface RuleFinder {
  /** Returns the ids of the rules whose message matches a pattern; a string: why the pattern is invalid. */
  readonly byMessage: (source: string) => readonly number[] | string;
}

/** The values of `ctl:requestBodyProcessor`. */
const PROCESSORS = ['URLENCODED', 'MULTIPART', 'JSON', 'XML'] as const;
/** The values of `ctl:ruleEngine`. */
const MODES = ['On', 'Off', 'DetectionOnly'] as const;

/** Lowers `ruleRemoveById=1-9`, `ruleRemoveTargetByTag=tag;ARGS:id` and so on. */
export function lowerControl(value: string, rules: RuleFinder): Lowered<DraftControl> {
  const equals = value.indexOf('=');
  const name = (equals === -1 ? value : value.slice(0, equals)).trim().toLowerCase();
  const setting = equals === -1 ? '' : value.slice(equals + 1).trim();
  const found = `ctl:${value}`;
  if (name in IGNORED_CONTROLS) return IGNORED;
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
    case 'decoderequestbody':
      return choose({ setting, found }, ['On', 'Off'], (mode) => ({
        kind: 'decodeRequestBody',
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
        message: 'this control is not supported',
        found,
        remedy: 'take the action out of the rule',
      });
  }
}

/** Makes a control for rules by id. */
type Make = (ranges: readonly IdRange[]) => DraftControl;

/** Lowers a control whose subject is ids. */
function byId(setting: string, found: string, make: Make): Lowered<DraftControl> {
  const ranges = readIds(setting);
  if (ranges === null) return wrong({ message: 'ids are numbers or ranges, such as `1,5-9`', found });
  return { done: make(ranges), findings: [], unsupported: [] };
}

/** The control as written, and the rules it may refer to. */
interface Subject {
  /** The control as written, for diagnostics. */
  readonly found: string;
  readonly rules: RuleFinder;
}

/** Lowers a control whose subject is a pattern of messages. */
function byMessage(setting: string, { found, rules }: Subject, make: Make): Lowered<DraftControl> {
  const ids = rules.byMessage(setting);
  if (typeof ids === 'string') return wrong({ message: ids, found });
  return { done: make(ids.map((id) => ({ from: id, to: id }))), findings: [], unsupported: [] };
}

/** Lowers `ruleRemoveTarget…=SUBJECT;TARGET`. */
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

/** Lowers a control whose value is one of some words, without case. */
function choose<T extends string>(
  { setting, found }: { readonly setting: string; readonly found: string },
  options: readonly T[],
  make: (chosen: T) => DraftControl,
): Lowered<DraftControl> {
  const chosen = options.find((option) => option.toLowerCase() === setting.toLowerCase());
  if (chosen === undefined)
    return wrong({ message: `the value must be one of ${options.join(', ')}`, found });
  return { done: make(chosen), findings: [], unsupported: [] };
}

/** Parses ids and ranges separated by commas or white space (`942100`, `942100-942999`); `null`: malformed. */
export function readIds(text: string): readonly IdRange[] | null {
  const ranges: IdRange[] = [];
  for (const piece of text.split(/[\s,]+/).filter((one) => one !== '')) {
    const range = /^(\d{1,10})(?:-(\d{1,10}))?$/.exec(piece);
    if (range === null) return null;
    ranges.push({ from: Number(range[1]), to: Number(range[2] ?? range[1]) });
  }
  return ranges.length === 0 ? null : ranges;
}

/** Whether an id is in one of the ranges. */
export function inRanges(id: number, ranges: readonly IdRange[]): boolean {
  return ranges.some(({ from, to }) => id >= from && id <= to);
}
