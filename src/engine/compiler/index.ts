/** `edgeplan/compiler`: edge files and rule sets in, sealed plans out. */

export type { DiagnosticCode } from '../../base/diagnostics/codes/codes.ts';
export { type Diagnostic, formatDiagnostic } from '../../base/diagnostics/diagnostic.ts';
export { type EdgeFile, readEdgeFile } from '../../rules/files/edge-file.ts';
export { type Parsed, parseRuleSet } from '../../rules/model/parse.ts';
export type { DnsRecord, Domain, Rule, RuleSet } from '../../rules/model/types.ts';
export type { Plan } from '../plan/layout.ts';
export { type SealOptions, seal } from '../plan/seal.ts';
export { type CompileResult, compile } from './compile.ts';
