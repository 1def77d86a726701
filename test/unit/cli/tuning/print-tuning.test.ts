/** The fragment of `waf tune` is YAML that a waf rule takes, whatever a path of the log contains. */
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { tuningFragment, tuningText } from '../../../../src/cli/tuning/print-tuning.ts';
import { parseRule } from '../../../../src/rules/model/parse.ts';
import { observeLine } from '../../../../src/workbench/tuning/observe.ts';
import { createTuning } from '../../../../src/workbench/tuning/tune.ts';
import { editorLines, markup, scannerLines, wafLine } from '../../../support/waf-log.ts';

function reportOf(lines: readonly Readonly<Record<string, unknown>>[]) {
  const tuning = createTuning();
  for (const line of lines) tuning.add(observeLine(line)!);
  return tuning.report();
}

/** The only path of a false positive, as it is sent. */
const PATHS = [
  ['a plain one', '/comments'],
  ['letters beyond ASCII', '/gr%C3%B6%C3%9Fe'],
  ['a quote and a brace', '/a%22%7D,%20b:%20%23c'],
  ['marks that turn text', '/a%E2%80%AEb%E2%80%8Bc'],
  ['a line feed', '/a%0Ab'],
] as const;

describe('the fragment', () => {
  test.each(PATHS)('is a list of exclusions with %s', (_, path) => {
    const { rules } = reportOf(editorLines({ path }));
    const [rule] = rules;
    const { exclusion } = rule!.groups[0]!.exclusions[0]!;
    const exclusions = parse(tuningFragment(rule!)) as readonly object[];
    expect(exclusions).toHaveLength(1);
    expect(exclusion).toMatchObject(exclusions[0]!);
    expect(parseRule('waf', { exclusions }).ok).toBe(true);
  });

  test('has unclear groups as comments, and no attack', () => {
    const office = Array.from({ length: 30 }, () =>
      wafLine({ path: '/office', fromPage: true, matches: [markup()] }),
    );
    const text = tuningFragment(reportOf([...office, ...scannerLines()]).rules[0]!);
    expect(text).toContain('\n# - { id: 11335, target: "ARGS:body", path: "/office" }\n');
    expect(text).not.toContain('ARGS:id');
    expect(parse(text)).toBe(null);
  });
});

test('the text has each group once, and the sum of all exclusions', () => {
  const text = tuningText(reportOf([...editorLines(), ...scannerLines()]));
  expect(text.match(/^likely false positive: /gm)).toHaveLength(1);
  expect(text.match(/^likely attack: /gm)).toHaveLength(4);
  expect(text).toContain(
    'with the exclusions for likely false positives: 40 of 120 stay blocked; of 40 likely attacks 0 would no longer be stopped\n',
  );
});
