/** Rule sets as a whole; the OWASP Core Rule Set where `EDGEPLAN_SUITES` has it. */
import { beforeAll, describe, expect, test } from 'vitest';
import { formatDiagnostic } from '../../../../../src/base/diagnostics/diagnostic.ts';
import { openSignatures } from '../../../../../src/engine/plan/open-signatures.ts';
import { sealSignatures } from '../../../../../src/engine/plan/seal-signatures.ts';
import type { SignatureProgram } from '../../../../../src/engine/plan/signature-program.ts';
import { compileSignatures, readSignatureDirectory } from '../../../../../src/engine/waf/seclang/index.ts';
import { externalSuite } from '../../../../support/external-suites.ts';
import { requires } from '../../../../support/requires.ts';

test('progress counts the characters of each different pattern once', () => {
  const rule = (id: number, pattern: string): string =>
    `SecRule ARGS "@rx ${pattern}" "id:${id},phase:2,deny"`;
  const text = [rule(1, 'abc'), rule(2, 'defgh'), rule(3, 'abc')].join('\n');
  const steps: [number, number][] = [];
  compileSignatures([{ file: 'a.conf', text }], {
    readData: () => null,
    onProgress: (done, all) => steps.push([done, all]),
  });
  expect(steps).toEqual([
    [3, 8],
    [8, 8],
  ]);
});

test('an error after hundreds of warnings yields no program', () => {
  const text = `${'# a \\\nb\n'.repeat(600)}SecRule ARGS "@rx (" "id:1,phase:2,deny"`;
  const { diagnostics, program } = compileSignatures([{ file: 'a.conf', text }], { readData: () => null });
  expect(diagnostics.filter(({ severity }) => severity === 'error')).toHaveLength(1);
  expect(program).toBeNull();
});

const { folder: CRS, missing: NO_CRS } = externalSuite('coreruleset');

describe('version 4', requires(NO_CRS), () => {
  let program: SignatureProgram;
  beforeAll(() => {
    const directory = readSignatureDirectory(CRS);
    const compiled = compileSignatures(directory.sources, directory);
    const errors = compiled.diagnostics.filter(({ severity }) => severity !== 'info').map(formatDiagnostic);
    expect(errors).toEqual([]);
    program = compiled.program!;
  }, 180_000);

  test('compiles to all its request rules, and each level has more of them', () => {
    const counts = program.levels.map(({ rules }) => rules.length);
    expect(counts[0]).toBeGreaterThan(150);
    expect(counts).toEqual([...counts].sort((a, b) => a - b));
    for (const [index, { rules }] of program.levels.entries()) {
      expect(rules.filter(({ paranoia }) => paranoia > index + 1)).toEqual([]);
    }
  });

  test('has no residual rule that does not depend on the request', () => {
    for (const [index, { rules, initial }] of program.levels.entries()) {
      expect(initial).toMatchObject({
        blocking_paranoia_level: String(index + 1),
        detection_paranoia_level: String(index + 1),
        critical_anomaly_score: '5',
        inbound_anomaly_score_pl1: '0',
      });
      expect(rules.filter(({ id }) => id >= 901_000 && id < 901_340)).toEqual([]);
    }
  });

  test('has a compiled DFA or required literals for nearly all patterns', () => {
    const { patterns } = program;
    const share = (count: number): number => count / patterns.length;
    expect(share(patterns.filter(({ dfa }) => dfa !== null).length)).toBeGreaterThan(0.8);
    expect(share(patterns.filter(({ required }) => required !== null).length)).toBeGreaterThan(0.8);
    const bare = patterns.filter(
      ({ dfa, guard, required }) => dfa === null && guard === undefined && required === null,
    );
    expect(bare).toEqual([]);
  });

  test('is the same program after sealing and opening', () => {
    const bytes = sealSignatures(program);
    expect(openSignatures(bytes)).toEqual(program);
  });
});
