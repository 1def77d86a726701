/** The arguments of `parseRuleSet`, `compile` and `seal`, as plain JavaScript may give them. */
import { expect, test } from 'vitest';
import {
  compile,
  formatDiagnostic,
  parseRuleSet,
  readEdgeFile,
  seal,
} from '../../../../src/engine/compiler/index.ts';

const parsed = parseRuleSet({ domain: { name: 'example.com' }, records: [], rules: [] });
if (!parsed.ok) throw new Error(parsed.diagnostics.map(formatDiagnostic).join());
const compiled = compile(parsed.ruleSet);

test('the shape of an edge file is one mistake, with what reads such a file', () => {
  const input = { domain: 'example.com', rules: [{ key: 'office', type: 'drop', records: ['shop'] }] };
  const refused = parseRuleSet(input);
  expect(refused.diagnostics.map(formatDiagnostic)).toEqual([
    'error: domain: must be an object, found `example.com`; this is the shape of an edge file: read its text with ' +
      '`readEdgeFile`, compile it with `edgeplan compile`, or give it to `createEdge({ file })`',
  ]);
  const read = readEdgeFile(JSON.stringify({ ...input, records: [{ name: 'shop' }] }), 'edge.json');
  expect(read.diagnostics).toEqual([]);
  expect(read.ok && seal(compile(read.ruleSet).plan).length).toBeGreaterThan(0);
});

test.each([[parsed], [undefined], ['edge.yaml']])('compile refuses %o and asks for the rule set', (given) => {
  expect(() => compile(given as never)).toThrow(TypeError);
  expect(() => compile(given as never)).toThrow('give the `ruleSet` of what `parseRuleSet`');
});

test.each([[compiled], [undefined]])('seal refuses %o and asks for the plan', (given) => {
  expect(() => seal(given as never)).toThrow(TypeError);
  expect(() => seal(given as never)).toThrow('give the `plan` of what `compile` returned');
});

test.each([[-1], [1.5], ['7']])('seal refuses the revision %o', (revision) => {
  expect(() => seal(compiled.plan, { revision } as never)).toThrow(
    '`revision` must be a whole number from 0, found ',
  );
});
