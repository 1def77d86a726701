/** `edgeplan/compiler`: rule sets in, sealed plans out. */

export type { Diagnostic } from '../base/diagnostic.ts';
export { parseRuleSet } from '../model/parse.ts';
export type { RuleSet } from '../model/types.ts';
export type { Plan } from '../plan/layout.ts';
export { type SealOptions, seal } from '../plan/seal.ts';
export { type CompileResult, compile } from './compile.ts';
