/**
 * Lowers targets and texts with macros: resolves the names of variables, of which some are always empty and some are not
 * supported.
 */
import {
  WAF_COLLECTIONS,
  WAF_SCALARS,
  type WafText,
  type WafTextPart,
  type WafVariable,
} from '../../plan/signature-program.ts';
import { ALWAYS_EMPTY, type DraftTarget, type DraftTargets, type WrittenTarget } from './draft.ts';
import { RESPONSE, STATEFUL_COLLECTIONS, STATELESS } from './ignored.ts';
import { parseTargets } from './parse-words.ts';
import type { SecLangFinding } from './source.ts';

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

// The variables of SecLang: supported ones, those that are always empty, and those that are not supported.

/** The result of a lookup. */
export type FoundVariable =
  | { readonly kind: 'supported'; readonly name: WafVariable; readonly collection: boolean }
  /** `why` continues the sentence "it is always empty:". */
  | { readonly kind: 'empty'; readonly why: string }
  | { readonly kind: 'unsupported' }
  | { readonly kind: 'unknown' };

/** Variables with members, as opposed to scalars. */
const COLLECTIONS: ReadonlySet<string> = new Set(WAF_COLLECTIONS);
/** The variables that a program can inspect. */
const SUPPORTED: ReadonlySet<string> = new Set<string>([...WAF_SCALARS, ...WAF_COLLECTIONS]);

/** By variable that is empty for every request, the reason. */
const EMPTY: Readonly<Record<string, string>> = {
  ...Object.fromEntries(STATEFUL_COLLECTIONS.map((name) => [name, STATELESS])),
  RESPONSE_BODY: RESPONSE,
  RESPONSE_CONTENT_LENGTH: RESPONSE,
  RESPONSE_CONTENT_TYPE: RESPONSE,
  RESPONSE_HEADERS: RESPONSE,
  RESPONSE_HEADERS_NAMES: RESPONSE,
  RESPONSE_PROTOCOL: RESPONSE,
  RESPONSE_STATUS: RESPONSE,
  STATUS_LINE: RESPONSE,
};

/** ModSecurity's other variables (reference manual v3, "Variables"). */
const UNSUPPORTED: ReadonlySet<string> = new Set([
  'DURATION',
  'ENV',
  'FILES_TMPNAMES',
  'FILES_TMP_CONTENT',
  'GEO',
  'HIGHEST_SEVERITY',
  'INBOUND_DATA_ERROR',
  'MODSEC_BUILD',
  'MSC_PCRE_ERROR',
  'MSC_PCRE_LIMITS_EXCEEDED',
  'OUTBOUND_DATA_ERROR',
  'PATH_INFO',
  'REMOTE_HOST',
  'REMOTE_PORT',
  'REMOTE_USER',
  'RULE',
  'SCRIPT_BASENAME',
  'SCRIPT_FILENAME',
  'SCRIPT_GID',
  'SCRIPT_GROUPNAME',
  'SCRIPT_MODE',
  'SCRIPT_UID',
  'SCRIPT_USERNAME',
  'SDBM_DELETE_ERROR',
  'SERVER_ADDR',
  'SESSIONID',
  'TIME',
  'TIME_DAY',
  'TIME_EPOCH',
  'TIME_HOUR',
  'TIME_MIN',
  'TIME_MON',
  'TIME_SEC',
  'TIME_WDAY',
  'TIME_YEAR',
  'URLENCODED_ERROR',
  'USERAGENT_IP',
  'USERID',
  'WEBAPPID',
  'WEBSERVER_ERROR_LOG',
]);

/** Looks up a variable by its name, without case. */
export function findVariable(written: string): FoundVariable {
  const name = written.toUpperCase();
  if (SUPPORTED.has(name))
    return { kind: 'supported', name: name as WafVariable, collection: COLLECTIONS.has(name) };
  const why = EMPTY[name];
  if (why !== undefined) return { kind: 'empty', why };
  return { kind: UNSUPPORTED.has(name) ? 'unsupported' : 'unknown' };
}

// Parses texts with macros: `%{MATCHED_VAR} in %{TX.0}` (ModSecurity reference manual, "Macro expansion").

/** By name in lower case, the text of a macro that is not a variable: `%{rule.id}`. */
export type OwnNames = Readonly<Record<string, string>>;

/** A parsed text. */
export interface ReadText {
  /** Parts in order; adjacent literals are joined. */
  readonly text: WafText;
  /** Macros that name no known variable. */
  readonly findings: readonly SecLangFinding[];
}

/** Parses a text. A macro of a variable that is always empty becomes the empty text. */
export function readText(written: string, own: OwnNames = {}): ReadText {
  const parts: WafTextPart[] = [];
  const findings: SecLangFinding[] = [];
  let literal = '';
  let at = 0;
  while (at < written.length) {
    const open = written.indexOf('%{', at);
    const close = open === -1 ? -1 : written.indexOf('}', open);
    if (close === -1) break;
    literal += written.slice(at, open);
    at = close + 1;
    const macro = readMacro(written.slice(open + 2, close), own);
    if (typeof macro === 'string') {
      literal += macro;
    } else if (macro === null) {
      findings.push({
        message: 'this macro names no known variable',
        found: written.slice(open, close + 1),
        remedy: 'name a variable of the request, such as `%{MATCHED_VAR}` or `%{tx.name}`',
      });
    } else {
      if (literal !== '') parts.push({ kind: 'literal', text: literal });
      literal = '';
      parts.push(macro);
    }
  }
  literal += written.slice(at);
  if (literal !== '') parts.push({ kind: 'literal', text: literal });
  return { text: parts, findings };
}

/** Returns the part of a variable, the fixed text of a macro, or `null` if it names nothing known. */
function readMacro(macro: string, own: OwnNames): WafTextPart | string | null {
  const known = own[macro.toLowerCase()];
  if (known !== undefined) return known;
  const split = macro.search(/[.:]/);
  const name = split === -1 ? macro : macro.slice(0, split);
  const variable = findVariable(name);
  switch (variable.kind) {
    case 'supported': {
      const member = split === -1 ? null : macro.slice(split + 1);
      return { kind: 'variable', variable: variable.name, name: member };
    }
    case 'empty':
      return '';
    case 'unsupported':
    case 'unknown':
      return null;
    default:
      return variable satisfies never;
  }
}

/** Returns a text without macros as a string; `null`: it has macros. */
export function plainText(text: WafText): string | null {
  let plain = '';
  for (const part of text) {
    if (part.kind !== 'literal') return null;
    plain += part.text;
  }
  return plain;
}

/** Converts a string to a text without macros. */
export function literalText(text: string): WafText {
  return text === '' ? [] : [{ kind: 'literal', text }];
}
