/**
 * How far the detectors agree with libinjection's published test files, which are not part of this repository.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { FINGERPRINT, fold, newFolded } from '../../src/engine/waf/detectors/sqli/fold.ts';
import { begin, newScan } from '../../src/engine/waf/detectors/sqli/scan.ts';
import { nextToken } from '../../src/engine/waf/detectors/sqli/tokens.ts';
import { detectSqli } from '../../src/engine/waf/detectors/sqli.ts';
import { beginHtml, IN_DATA, newHtml, nextPiece } from '../../src/engine/waf/detectors/xss/html.ts';
import { detectXss } from '../../src/engine/waf/detectors/xss.ts';
import { externalSuite } from '../support/external-suites.ts';
import { requires } from '../support/requires.ts';

const { folder: ROOT, missing: NO_SUITE } = externalSuite('libinjection');

interface Case {
  readonly name: string;
  readonly input: string;
  readonly expected: string;
}

/** One `tests/test-*.txt`: what stands under `--INPUT--` and `--EXPECTED--`. */
function casesOf(kind: string): readonly Case[] {
  const files = readdirSync(join(ROOT, 'tests')).filter((name) => name.startsWith(`test-${kind}-`));
  return files.map((name) => {
    const text = readFileSync(join(ROOT, 'tests', name), 'latin1');
    const [, input = '', expected = ''] = text.split(/--(?:INPUT|EXPECTED)--/);
    return { name, input: input.replace(/^\r?\n|\r?\n$/g, ''), expected: expected.trim() };
  });
}

/** One `data/*.txt`: a value a line, as in a query string. */
function valuesOf(pattern: RegExp): readonly string[] {
  return readdirSync(join(ROOT, 'data'))
    .filter((name) => pattern.test(name))
    .flatMap((name) => readFileSync(join(ROOT, 'data', name), 'latin1').split('\n'))
    .map((line) => line.trimEnd())
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) =>
      line
        .replaceAll('+', ' ')
        .replace(/%([0-9a-f]{2})/gi, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16))),
    );
}

function kindsOf(expected: string): string {
  return expected
    .split('\n')
    .map((line) => line.trim().charAt(0))
    .join('');
}

function tokensOf(text: string): string {
  const scan = newScan();
  begin(scan, text, false);
  let kinds = '';
  while (nextToken(scan)) kinds += String.fromCharCode(scan.kind);
  return kinds;
}

function foldedOf(text: string): string {
  const scan = newScan();
  begin(scan, text, false);
  const folded = newFolded();
  fold(scan, folded);
  return String.fromCharCode(...folded.kind.slice(0, Math.min(folded.size, FINGERPRINT)));
}

const PIECES = [
  '',
  'DATA_TEXT',
  'TAG_NAME_OPEN',
  'TAG_NAME_CLOSE',
  'TAG_NAME_SELFCLOSE',
  'TAG_CLOSE',
  'ATTR_NAME',
  'ATTR_VALUE',
  'TAG_COMMENT',
  'DOCTYPE',
];

function piecesOf(text: string): string {
  const html = newHtml();
  beginHtml(html, text, IN_DATA);
  const lines: string[] = [];
  while (nextPiece(html))
    lines.push(`${PIECES[html.kind]},${html.end - html.start},${text.slice(html.start, html.end)}`);
  return lines.join('\n').trim();
}

/** The share of `all` for which `holds`, in percent; what does not hold is printed. */
function share<T>(all: readonly T[], what: string, holds: (one: T) => boolean): number {
  const others = all.filter((one) => !holds(one));
  const percent = 100 * (1 - others.length / all.length);
  console.log(`${what}: ${all.length - others.length} of ${all.length} (${percent.toFixed(2)} %)`);
  for (const other of others) console.log(`  ${JSON.stringify(other)}`);
  return percent;
}

describe('libinjection', requires(NO_SUITE), () => {
  test('its test cases of tokens have the same result, except known differences', () => {
    expect(
      share(
        casesOf('tokens'),
        'tokens',
        ({ input, expected }) => tokensOf(input.trim()) === kindsOf(expected),
      ),
    ).toBe(100);
  });

  test('its test cases of folding have the same result, except known differences', () => {
    const percent = share(
      casesOf('folding'),
      'folding',
      ({ input, expected }) => foldedOf(input.trim()) === kindsOf(expected),
    );
    expect(percent).toBeGreaterThan(99);
  });

  test('its test cases of fingerprints have the same result, except known differences', () => {
    const percent = share(
      casesOf('sqli'),
      'sqli',
      ({ input, expected }) => (detectSqli(input.trim()) ?? '') === expected,
    );
    expect(percent).toBe(100);
  });

  test('its test cases of HTML have the same result, except known differences', () => {
    expect(share(casesOf('html5'), 'html5', ({ input, expected }) => piecesOf(input) === expected)).toBe(100);
  });

  test('its SQL injections are detected', () => {
    expect(share(valuesOf(/^sqli/), 'data/sqli-*', (value) => detectSqli(value) !== null)).toBeGreaterThan(
      99,
    );
  });

  test('its false positives are not detected', () => {
    expect(
      share(valuesOf(/^false/), 'data/false_positives', (value) => detectSqli(value) === null),
    ).toBeGreaterThan(99);
  });

  test('its scripts are detected', () => {
    expect(share(valuesOf(/xss/), 'data/*xss*', (value) => detectXss(value) !== null)).toBeGreaterThan(99);
  });
});
