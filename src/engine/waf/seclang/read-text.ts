/** Parses texts with macros: `%{MATCHED_VAR} in %{TX.0}` (ModSecurity reference manual, "Macro expansion"). */
import type { WafText, WafTextPart } from '../../plan/signature-program.ts';
import type { SecLangFinding } from './source.ts';
import { findVariable } from './variables.ts';

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
