/**
 * A step of `npm run build`: compiles the starter signatures in the directory of its argument and writes `starter.bin`,
 * with the types of `import signatures from 'edgeplan/starter.bin'`.
 */
import { writeFileSync } from 'node:fs';
import { argv } from 'node:process';
import { assert } from '../../../base/diagnostics/assert.ts';
import { sealSignatures } from '../../plan/seal-signatures.ts';
import { compileStarter } from './starter.ts';

const { program, diagnostics } = compileStarter(argv[2] ?? 'src/engine/waf/signatures');
assert(program !== null, `the starter signatures do not compile: ${JSON.stringify(diagnostics)}`);
writeFileSync(new URL('starter.bin', import.meta.url), sealSignatures(program));
writeFileSync(
  new URL('starter.bin.d.ts', import.meta.url),
  '/** The starter signatures, sealed; a bundler turns the file into octets. */\n' +
    'declare const octets: Uint8Array | ArrayBuffer;\nexport default octets;\n',
);
