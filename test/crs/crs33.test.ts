/** The Core Rule Set 3.3 compiles as its repository has it, its patterns with look-around and backreferences too. */
import { expect, test } from 'vitest';
import { describeDiagnostic } from '../../src/base/diagnostics/diagnostic.ts';
import { compileSignatures, readSignatureDirectory } from '../../src/engine/waf/seclang/index.ts';
import { externalSuite } from '../support/external-suites.ts';
import { requires } from '../support/requires.ts';

const { folder, missing } = externalSuite('crs33');

test('no rule of the Core Rule Set 3.3 is refused', { ...requires(missing), timeout: 120_000 }, () => {
  const { sources, ...rest } = readSignatureDirectory(folder);
  const { program, diagnostics } = compileSignatures(sources, rest);
  const errors = diagnostics.filter(({ severity }) => severity === 'error');
  expect(errors.map(describeDiagnostic)).toEqual([]);
  expect(diagnostics.map(({ code }) => code)).not.toContain('seclang_pattern');
  const ids = program!.levels.map(({ rules }) => rules.map(({ id }) => id));
  expect(ids[0]).toContain(920_120);
  expect(ids[1]).toContain(942_130);
  const searched = program!.patterns.filter(({ backtrack }) => backtrack !== undefined);
  expect(searched.map(({ dfa }) => dfa !== null)).toEqual(searched.map(() => true));
  expect(searched).toHaveLength(5);
});
