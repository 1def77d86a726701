/** The sealed starter signatures that the build makes. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { openSignatures } from '../../src/engine/plan/open-signatures.ts';
import { sealSignatures } from '../../src/engine/plan/seal-signatures.ts';
import type { SignatureProgram } from '../../src/engine/plan/signature-program.ts';
import { compileStarter } from '../../src/engine/waf/signatures/starter.ts';
import { builtCli } from '../support/built.ts';

const BUILT = new URL('../../dist/engine/waf/signatures/', import.meta.url);

test('the sealed starter set of the build equals the compiled text, octet by octet', async () => {
  await builtCli();
  const compiled = compileStarter(new URL('../../src/engine/waf/signatures', import.meta.url).pathname);
  expect(compiled.diagnostics).toEqual([]);
  const sealed = readFileSync(new URL('starter.bin', BUILT));
  expect(Buffer.compare(sealed, sealSignatures(compiled.program!))).toBe(0);

  const built: { starterProgram: () => SignatureProgram } = await import(new URL('starter.js', BUILT).href);
  expect(built.starterProgram()).toEqual(openSignatures(sealed));
  expect(built.starterProgram().name).toBe('edgeplan-starter/1');
}, 120_000);
