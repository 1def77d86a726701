import fc from 'fast-check';
import { Parser } from 'htmlparser2';
import { describe, expect, test } from 'vitest';
import type { Diagnostic } from '../../../../src/base/diagnostics/diagnostic.ts';
import { GITHUB, type LintReport, type TestReport } from '../../../../src/cli/reporters/report.ts';
import { JUNIT } from '../../../../src/cli/reporters/reporters.ts';
import type { TestResult } from '../../../../src/workbench/rule-tests/run.ts';

interface Element {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  text: string;
}

/** The elements of an XML text, which must be well-formed. */
function elementsOf(xml: string): readonly Element[] {
  const elements: Element[] = [];
  const open: Element[] = [];
  const parser = new Parser(
    {
      onopentag(name, attributes) {
        const element: Element = { name, attributes, text: '' };
        elements.push(element);
        open.push(element);
      },
      ontext(text) {
        if (open.length > 0) open.at(-1)!.text += text;
      },
      onclosetag(name, implied) {
        expect(implied && !xml.includes('/>')).toBe(false);
        expect(open.pop()?.name).toBe(name);
      },
    },
    { xmlMode: true },
  );
  parser.end(xml);
  expect(open).toEqual([]);
  return elements;
}

function named(elements: readonly Element[], name: string): readonly Element[] {
  return elements.filter((element) => element.name === name);
}

function result(name: string, failure: string | null): TestResult {
  const at = { file: 'edge.test.yaml', line: 3, column: 5 };
  const failures =
    failure === null
      ? []
      : [
          {
            at,
            step: null,
            line: 'GET https://a.test/',
            what: 'expect' as const,
            expected: failure,
            got: 'block 403',
            differences: [],
            reasons: [],
          },
        ];
  return { name, at, claim: null, passed: failure === null, requests: 1, failures, seconds: 0.5 };
}

function testReport(results: readonly TestResult[], fields: Partial<TestReport> = {}): TestReport {
  const rest = {
    mistakes: [],
    coverage: null,
    uncovered: null,
    mutation: null,
    unkilled: null,
    seconds: 1,
    colour: false,
    texts: new Map(),
  };
  return { results, ...rest, ...fields };
}

function lintReport(findings: readonly Diagnostic[]): LintReport {
  const inputs = [{ name: 'edge.yaml', findings }];
  return {
    file: 'edge.yaml',
    inputs,
    failing: ['warning', 'error'],
    seconds: 1,
    colour: false,
    texts: new Map(),
  };
}

function finding(message: string, severity: Diagnostic['severity'] = 'warning'): Diagnostic {
  const at = { file: 'shop, a:b.yaml', line: 2, column: 4 };
  return { code: 'unknown_field', severity, path: ['rules', 0], message, at };
}

/** What XML 1.0 cannot have is written as JSON writes it. */
function readable(text: string): string {
  return text.replace(
    /[^\t\n\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu,
    (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

describe('junit', () => {
  test('counts cases, failures and errors, with times in seconds', () => {
    const xml = JUNIT.test(testReport([result('one', null), result('two', 'forward')]));
    const elements = elementsOf(xml);
    const counts = { tests: '2', failures: '1', errors: '0' };
    expect(elements[0]).toMatchObject({ name: 'testsuites', attributes: { ...counts, time: '1.000' } });
    expect(elements[1]).toMatchObject({
      name: 'testsuite',
      attributes: { ...counts, name: 'edge.test.yaml', skipped: '0' },
    });
    expect(named(elements, 'testcase').map(({ attributes }) => attributes)).toEqual([
      { name: 'one', classname: 'edge.test.yaml', file: 'edge.test.yaml', line: '3', time: '0.500' },
      { name: 'two', classname: 'edge.test.yaml', file: 'edge.test.yaml', line: '3', time: '0.500' },
    ]);
    expect(named(elements, 'failure')[0]!.attributes).toEqual({
      message: 'expected forward, got block 403',
      type: 'expect',
    });
  });

  test('any name and message reads back, without characters that XML does not have', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), (name, message) => {
        const elements = elementsOf(JUNIT.test(testReport([result(name, message)])));
        expect(named(elements, 'testcase')[0]!.attributes['name']).toBe(readable(name));
        expect(named(elements, 'failure')[0]!.attributes['message']).toBe(
          readable(`expected ${message}, got block 403`),
        );
        const [found] = named(elementsOf(JUNIT.lint(lintReport([finding(message)]))), 'failure');
        expect(found!.text).toBe(readable(`rules[0]: ${message}`.trimEnd()));
      }),
    );
  });

  test('a finding below the threshold passes, and a file without findings has a case that passes', () => {
    const elements = elementsOf(JUNIT.lint(lintReport([finding('a', 'info'), finding('b')])));
    expect(elements[0]!.attributes).toMatchObject({ tests: '2', failures: '1' });
    expect(named(elements, 'system-out').map(({ text }) => text)).toEqual(['rules[0]: a']);
    const none = elementsOf(JUNIT.lint(lintReport([])));
    expect(none[0]!.attributes).toMatchObject({ tests: '1', failures: '0' });
  });

  test('an error because of which tests were not run is an error, and low coverage a failure', () => {
    const refused = elementsOf(JUNIT.test(testReport([], { mistakes: [finding('x', 'error')] })));
    expect(refused[0]!.attributes).toMatchObject({ tests: '1', failures: '0', errors: '1' });
    const coverage = {} as never;
    const short = elementsOf(JUNIT.test(testReport([result('a', null)], { coverage, uncovered: 'low' })));
    expect(short[0]!.attributes).toMatchObject({ tests: '2', failures: '1' });
  });
});

describe('github', () => {
  test('a finding is a command of its severity, with escaped properties and message', () => {
    const text = GITHUB.lint(lintReport([finding('100 %\nand more: x', 'info')]));
    expect(text).toBe(
      '::notice file=shop%2C a%3Ab.yaml,line=2,col=4,title=unknown_field::rules[0]: 100 %25%0Aand more: x\n1 finding\n',
    );
  });

  test('a failed test is an error at its request', () => {
    const text = GITHUB.test(testReport([result('a,b', 'forward'), result('c', null)]));
    expect(text).toMatch(
      /^::error file=edge\.test\.yaml,line=3,col=5,title=a%2Cb::GET .*%0Aexpected {2}forward%0A/,
    );
    expect(text.split('\n').slice(1)).toEqual(['1 passed, 1 failed · 2 requests', '']);
  });

  test('no text of a customer begins a line', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (message) => {
        const text = GITHUB.test(testReport([result(message, message)]));
        expect(text.split(/\r|\n/)).toHaveLength(3);
        expect(text.startsWith('::error ')).toBe(true);
      }),
    );
  });

  test('a place in stdin has no file', () => {
    const at = { file: 'stdin', line: 1, column: 1 };
    expect(GITHUB.lint(lintReport([{ ...finding('x'), at }]))).toContain('::warning title=unknown_field::');
  });
});
