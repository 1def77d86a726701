/** Short ways to compile texts in tests. */
import { formatDiagnostic } from '../../../../../src/base/diagnostics/diagnostic.ts';
import type {
  SignatureProgram,
  SignatureRule,
  WafCondition,
  WafLevel,
} from '../../../../../src/engine/plan/signature-program.ts';
import { type CompiledSignatures, compileSignatures } from '../../../../../src/engine/waf/seclang/compile.ts';

export type DataFiles = Readonly<Record<string, string>>;

/** Compiles one file, `a.conf`. */
export function compileText(text: string, data: DataFiles = {}): CompiledSignatures {
  return compileSignatures([{ file: 'a.conf', text }], { readData: (file) => data[file] ?? null });
}

/** The program of a text that compiles. */
export function programOf(text: string, data: DataFiles = {}): SignatureProgram {
  const { program, diagnostics } = compileText(text, data);
  if (program === null) throw new Error(diagnostics.map(formatDiagnostic).join('\n'));
  return program;
}

export function levelOf(text: string, paranoia = 1): WafLevel {
  return programOf(text).levels[paranoia - 1]!;
}

/** The only rule of a text. */
export function ruleOf(text: string): SignatureRule {
  const { rules } = levelOf(text);
  if (rules.length !== 1) throw new Error(`${rules.length} rules`);
  return rules[0]!;
}

export function conditionOf(text: string): WafCondition {
  return ruleOf(text).conditions[0]!;
}

/** Everything that is said of a text, as a terminal shows it. */
export function saidOf(text: string, data: DataFiles = {}): readonly string[] {
  return compileText(text, data).diagnostics.map(formatDiagnostic);
}

/** Ids of a level's rules in their order. */
export function idsOf(text: string, paranoia = 1): readonly number[] {
  return levelOf(text, paranoia).rules.map(({ id }) => id);
}
