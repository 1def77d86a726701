/**
 * The starter signatures: the default of `waf` rules if no other set is installed. Their text is in the `.conf` files
 * beside this one. The build seals them into `starter.bin`, so that no process waits for the compiler.
 */
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { assert } from '../../../base/diagnostics/assert.ts';
import { openSignatures } from '../../plan/open-signatures.ts';
import { sealSignatures } from '../../plan/seal-signatures.ts';
import type { SignatureProgram } from '../../plan/signature-program.ts';
import { type CompiledSignatures, compileSignatures, readSignatureDirectory } from '../seclang/index.ts';

const SEALED = new URL('starter.bin', import.meta.url);

/**
 * Returns the starter program. In a build, opens the sealed file, which takes milliseconds. From source, compiles the
 * text, which takes seconds; cache the result.
 * @throws PlanFault if the sealed file has another version or is damaged
 */
export function starterProgram(): SignatureProgram {
  return openSignatures(starterBytes());
}

/** Returns the sealed starter program; takes as long as `starterProgram`. @throws Error if the text does not compile */
export function starterBytes(): Uint8Array {
  if (existsSync(SEALED)) return readFileSync(SEALED);
  const { program, diagnostics } = compileStarter(fileURLToPath(new URL('.', import.meta.url)));
  assert(program !== null, `the starter signatures do not compile: ${diagnostics[0]?.message}`);
  return sealSignatures(program);
}

/** Compiles the starter signatures; `directory` contains their text. */
export function compileStarter(directory: string): CompiledSignatures {
  const { sources, readData, reader, diagnostics } = readSignatureDirectory(directory);
  const compiled = compileSignatures(sources, { readData, reader });
  return { program: compiled.program, diagnostics: [...diagnostics, ...compiled.diagnostics] };
}
