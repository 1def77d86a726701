/** `%{MATCHED_VAR} in %{TX.0}`: texts with macros, taken apart. */
import type { WafText, WafTextPart } from '../../plan/signature-program.ts';
import type { SecLangFinding } from './source.ts';
import { findVariable } from './variables.ts';

/** What a macro may name besides variables: `%{rule.id}`. */
export type OwnNames = Readonly<Record<string, string>>;

export interface ReadText {
  readonly text: WafText;
  readonly findings: readonly SecLangFinding[];
}

/** Takes a text apart. A macro nothing is known of is told; one of an empty variable becomes nothing. */
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
        message: 'this macro names nothing that is known here',
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

/** A variable's part, the text a macro stands for, or `null`. */
function readMacro(macro: string, own: OwnNames): WafTextPart | string | null {
  const known = own[macro.toLowerCase()];
  if (known !== undefined) return known;
  const split = macro.search(/[.:]/);
  const name = split === -1 ? macro : macro.slice(0, split);
  const variable = findVariable(name);
  switch (variable.kind) {
    case 'kept': {
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

/** A text without macros as plain text; `null`: it has some. */
export function plainText(text: WafText): string | null {
  let plain = '';
  for (const part of text) {
    if (part.kind !== 'literal') return null;
    plain += part.text;
  }
  return plain;
}

/** Plain text as a text. */
export function literalText(text: string): WafText {
  return text === '' ? [] : [{ kind: 'literal', text }];
}
