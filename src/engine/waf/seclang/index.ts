/** The entry of the room for other rooms: SecLang text in, signature program out. */
export { type CompiledSignatures, compileSignatures, type SignatureOptions } from './compile.ts';
export { readSignatureDirectory } from './directory.ts';
export type { Source } from './source.ts';
export { type SignatureSummary, summariseSignatures } from './summary.ts';
