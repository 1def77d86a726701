/**
 * The Core Rule Set's own regression tests, through the compiler and the run time. Every case that fails is listed with its reason in
 * `misses.json`; one that is listed and passes fails too.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { loadSignatures } from '../../src/engine/waf/load/load.ts';
import { externalSuite } from '../support/external-suites.ts';
import { requires } from '../support/requires.ts';
import { readFtwCases } from './ftw.ts';
import { compileCrs } from './program.ts';
import { asksOfRequest, judgeCase } from './run.ts';

const { folder: DIRECTORY, missing: NO_CRS } = externalSuite('coreruleset');
const SUITE = join(DIRECTORY, 'tests/regression/tests');
const MISSES = new URL('./misses.json', import.meta.url);

describe('the regression suite', requires(NO_CRS), () => {
  test('fails only in the cases of the list of known differences, each with its reason', {
    timeout: 300_000,
  }, () => {
    const program = loadSignatures(compileCrs(DIRECTORY));
    const cases = readFtwCases(SUITE).filter(asksOfRequest);
    const misses = cases.flatMap((one) => {
      const wrong = judgeCase(program, one);
      return wrong === null ? [] : [`${one.name} ${wrong}`];
    });
    const passed = cases.length - misses.length;
    console.log(`${passed} of ${cases.length} request-side cases pass`);
    const known = JSON.parse(readFileSync(MISSES, 'utf8')) as Readonly<Record<string, string>>;
    expect(misses.map((miss) => miss.split(' ')[0])).toEqual(Object.keys(known));
    expect(passed / cases.length).toBeGreaterThan(0.995);
  });
});
