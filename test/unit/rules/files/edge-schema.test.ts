/** The JSON Schemas of `edge.yaml` and `edge.test.yaml` accept what their readers accept. */
import { readFileSync } from 'node:fs';
import { Ajv, type ValidateFunction } from 'ajv';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { RULE_TYPES } from '../../../../src/base/vocabulary/vocabulary.ts';
import { readEdgeFile } from '../../../../src/rules/files/edge-file.ts';
import { printEdge } from '../../../../src/rules/files/print-edge.ts';
import { readTestFile } from '../../../../src/rules/files/test-file.ts';
import { fileSchema, type SchemaName } from '../../../../src/workbench/simulation/field-reference.ts';
import { generateCase } from '../../../support/generate.ts';
import { LEAST } from '../model/read.ts';

function validatorOf(name: SchemaName): ValidateFunction {
  return new Ajv({ strict: false, allErrors: true }).compile(JSON.parse(fileSchema(name)));
}

const isEdge = validatorOf('edge');
const isTest = validatorOf('test');
const fixture = (name: string): string =>
  readFileSync(new URL(`../../../../fixtures/shop/${name}`, import.meta.url), 'utf8');

/** What the schema says of a file's text; empty: nothing. */
function mistakes(isValid: ValidateFunction, text: string): readonly string[] {
  isValid(parse(text));
  return (isValid.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
}

describe('edge.yaml', () => {
  test('the schema accepts the sample shop', () => {
    expect(mistakes(isEdge, fixture('edge.yaml'))).toEqual([]);
  });

  test('the schema accepts every generated rule set as export prints it', () => {
    for (let seed = 1; seed <= 60; seed++) {
      const { ruleSet } = generateCase(seed, 1, { answers: 0.3, conditions: { share: 0.3 } });
      const { records, rules } = ruleSet;
      const { name } = ruleSet.domain;
      const { text } = printEdge({ domain: { name }, records, rules, ids: seed % 2 === 0 });
      expect(mistakes(isEdge, text), `seed ${seed}:\n${text}`).toEqual([]);
    }
  });

  test.each(RULE_TYPES)('the schema refuses an unknown field of a %s rule, as the reader does', (type) => {
    const rule = { type, ...LEAST[type] };
    const text = (extra: object): string =>
      JSON.stringify({ domain: 'a.test', rules: [{ ...rule, ...extra }] });
    expect([mistakes(isEdge, text({})), readEdgeFile(text({}), 'x').ok]).toEqual([[], true]);
    expect(mistakes(isEdge, text({ colour: 'red' }))).not.toEqual([]);
    expect(readEdgeFile(text({ colour: 'red' }), 'x').ok).toBe(false);
  });

  test.each([
    ['no domain', 'rules: []'],
    ['a type that no rule has', 'domain: a.test\nrules: [{ type: block, countries: [DE] }]'],
    ['a rule without a type', 'domain: a.test\nrules: [{ countries: [DE] }]'],
    [
      'a value that is not in the list',
      'domain: a.test\nrules: [{ type: rate_limit, limit: 1, key_by: cookie }]',
    ],
    ['a number above its bound', 'domain: a.test\nrules: [{ type: waf, paranoia: 5 }]'],
    ['a field that is missing', 'domain: a.test\nrules: [{ type: rate_limit }]'],
    [
      'a record of an unknown type',
      'domain: a.test\nrecords: [{ name: a, type: X, destination: 192.0.2.1 }]',
    ],
    ['a key with capital letters', 'domain: a.test\nrules: [{ type: drop, key: A, countries: [DE] }]'],
    ['a misspelt setting', 'domain: { name: a.test, sec_no_snif: true }'],
  ])('the schema and the reader refuse %s', (_what, text) => {
    expect(readEdgeFile(text, 'x').ok).toBe(false);
    expect(mistakes(isEdge, text)).not.toEqual([]);
  });
});

describe('edge.test.yaml', () => {
  test('the schema accepts the tests of the sample shop', () => {
    expect(mistakes(isTest, fixture('edge.test.yaml'))).toEqual([]);
  });

  test.each([
    ['an unknown key of the file', 'test: []'],
    ['an unknown key of a test', 'tests: [{ name: a, request: https://a.test/, expects: forward }]'],
    [
      'an unknown fact',
      'tests: [{ name: a, request: https://a.test/, with: { adress: 192.0.2.1 }, expect: forward }]',
    ],
    [
      'a kind of bot that does not exist',
      'tests: [{ name: a, request: https://a.test/, with: { bot: gpt }, expect: forward }]',
    ],
    ['a test without a name', 'tests: [{ request: https://a.test/, expect: forward }]'],
    ['a repeat of zero', 'tests: [{ name: a, request: https://a.test/, repeat: 0, expect: forward }]'],
  ])('the schema and the reader refuse %s', (_what, text) => {
    expect(readTestFile(text, 'x').ok).toBe(false);
    expect(mistakes(isTest, text)).not.toEqual([]);
  });
});
