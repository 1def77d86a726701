/**
 * The starter signatures: what a `waf` rule inspects with where nothing else is installed. They are written in the
 * `.conf` files beside this one; the build seals them into `starter.bin`, so that nobody waits for a compiler.
 */
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { assert } from '../../base/assert.ts';
import { openSignatures } from '../../plan/open-signatures.ts';
import { sealSignatures } from '../../plan/seal-signatures.ts';
import type { SignatureProgram } from '../../plan/signature-program.ts';
import { type CompiledSignatures, compileSignatures, readSignatureDirectory } from '../seclang/index.ts';

const SEALED = new URL('starter.bin', import.meta.url);

/**
 * The starter program. Built: the sealed file, opened in milliseconds. Run from source: compiled, which takes seconds;
 * keep what comes back.
 * @throws PlanFault when the sealed file is of another version, or damaged
 */
export function starterProgram(): SignatureProgram {
  return openSignatures(starterBytes());
}

/** The starter program, sealed; like `starterProgram` at once where it was built, and in seconds from source. */
export function starterBytes(): Uint8Array {
  if (existsSync(SEALED)) return readFileSync(SEALED);
  const { program, diagnostics } = compileStarter(fileURLToPath(new URL('.', import.meta.url)));
  assert(program !== null, `the starter signatures do not compile: ${diagnostics[0]?.message}`);
  return sealSignatures(program);
}

/** Compiles the starter signatures from the directory that holds their text. */
export function compileStarter(directory: string): CompiledSignatures {
  const { sources, readData, reader, diagnostics } = readSignatureDirectory(directory);
  const compiled = compileSignatures(sources, { readData, reader });
  return { program: compiled.program, diagnostics: [...diagnostics, ...compiled.diagnostics] };
}
