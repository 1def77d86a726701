/** The lists of codes and the source agree: every code in use is listed, and every listed code is in use. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { beforeAll, describe, expect, test } from 'vitest';
import { CODE_AREAS, codeAnchor, listedCodes } from '../../../../../src/base/diagnostics/codes/codes.ts';
import { RESPONSE_FAULT_CODES } from '../../../../../src/base/diagnostics/codes/faults.ts';
import { PLAN_CODES } from '../../../../../src/base/diagnostics/codes/plans.ts';
import { RESPONSE_FAULTS } from '../../../../../src/base/http/response.ts';
import { PLAN_FAULTS } from '../../../../../src/engine/plan/layout.ts';

const SRC = new URL('../../../../../src', import.meta.url).pathname;
/** The code of zod for checks of ours; the code of the diagnostic is in its parameters. */
const FOREIGN = ['custom'];

/** Codes of objects with a message, of named calls, and of variables called `code`. */
const described = new Set<string>();
const used = new Set<string>();
/** `code severity` wherever both are written in one place. */
const severities = new Set<string>();
const SEVERITIES: Readonly<Record<string, string>> = { error: 'error', warn: 'warning', inform: 'info' };

/** The severity of an object with a code: beside it, or of the call that takes it. */
function severityOf(object: ts.ObjectLiteralExpression, source: ts.SourceFile): string | null {
  for (const one of object.properties) {
    if (ts.isPropertyAssignment(one) && one.name.getText(source) === 'severity')
      return literals(one.initializer)[0] ?? null;
  }
  if (!ts.isCallExpression(object.parent)) return null;
  const { expression, arguments: given } = object.parent;
  const name = ts.isPropertyAccessExpression(expression) ? expression.name.text : '';
  const written = given.flatMap(literals).find((text) => Object.values(SEVERITIES).includes(text));
  return written ?? SEVERITIES[name] ?? null;
}

function literals(node: ts.Node): readonly string[] {
  if (ts.isStringLiteral(node)) return [node.text];
  // Both ends of a condition are codes, what it compares is none.
  if (ts.isConditionalExpression(node)) return [...literals(node.whenTrue), ...literals(node.whenFalse)];
  return [];
}

function readFile(path: string): void {
  const text = readFileSync(join(SRC, path), 'utf8');
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const visit = (node: ts.Node): void => {
    if (ts.isPropertyAssignment(node) && node.name.getText(source) === 'code') {
      const siblings = node.parent.properties.map((one) => one.name?.getText(source));
      for (const code of literals(node.initializer)) {
        used.add(code);
        if (siblings.includes('message')) described.add(code);
        severities.add(`${code} ${severityOf(node.parent, source)}`);
      }
    }
    if (ts.isVariableDeclaration(node) && node.name.getText(source) === 'code' && node.initializer)
      for (const code of literals(node.initializer)) used.add(code);
    // The translation of system errors into faults returns codes and has them in tables.
    if (path === 'edge/proxy/origin/faults.ts' && ts.isStringLiteral(node)) used.add(node.text);
    if (ts.isCallExpression(node) || ts.isNewExpression(node)) readCall(node, path);
    ts.forEachChild(node, visit);
  };
  visit(source);
}

/** Codes that calls take: findings of SecLang, faults of plans, problems of the zone file's reader. */
function readCall(
  { expression, arguments: given = [] as never }: ts.CallExpression | ts.NewExpression,
  path: string,
) {
  const name = ts.isPropertyAccessExpression(expression) ? expression.name.text : expression.getText();
  const first = given[0] === undefined ? [] : literals(given[0]);
  const isSecLang = path.startsWith('engine/waf/seclang/') && ['error', 'warn', 'inform'].includes(name);
  if (isSecLang) {
    for (const code of first) {
      described.add(`seclang_${code}`);
      severities.add(`seclang_${code} ${SEVERITIES[name]}`);
    }
  }
  if (name.endsWith('Fault') || name === 'shape' || name === 'fault')
    for (const code of first) used.add(code);
  if (name === 'fail' && given[2] !== undefined) for (const code of literals(given[2])) described.add(code);
}

beforeAll(() => {
  const files = readdirSync(SRC, { recursive: true, encoding: 'utf8' });
  for (const path of files) {
    if (
      path.endsWith('.ts') &&
      !path.startsWith('base/diagnostics/codes/') &&
      path !== 'control/client/schema.ts'
    )
      readFile(path);
  }
});

describe('the lists of codes', () => {
  const listed = listedCodes();

  test('have every code that the source describes', () => {
    expect(described.size).toBeGreaterThan(100);
    const known = new Set<string>([...listed.map(({ code }) => code), ...FOREIGN]);
    expect([...described].filter((code) => !known.has(code))).toEqual([]);
  });

  test('have no code that the source does not use', () => {
    const unused = listed.filter(({ code }) => !described.has(code) && !used.has(code));
    expect(unused.map(({ code }) => code)).toEqual([]);
  });

  test('have no severity that the source contradicts', () => {
    const wrong = listed.filter(({ code, severity }) => {
      const others = Object.values(SEVERITIES).filter((one) => one !== severity);
      return severity !== null && others.some((one) => severities.has(`${code} ${one}`));
    });
    expect(severities.size).toBeGreaterThan(100);
    expect(wrong.map(({ code }) => code)).toEqual([]);
  });

  test('have every reason why a plan cannot be opened', () => {
    expect(Object.keys(PLAN_CODES)).toEqual([...PLAN_FAULTS].sort());
  });

  test('have every fault of a response', () => {
    expect(Object.keys(RESPONSE_FAULT_CODES)).toEqual([...RESPONSE_FAULTS].sort());
  });

  test('have each code of a diagnostic once, and each anchor once, sorted within its area', () => {
    const plain = CODE_AREAS.filter(({ prefix }) => prefix === '').flatMap(({ codes }) => Object.keys(codes));
    expect(new Set(plain).size).toBe(plain.length);
    const anchors = CODE_AREAS.flatMap((area) =>
      Object.keys(area.codes).map((code) => codeAnchor(area, code)),
    );
    expect(new Set(anchors).size).toBe(anchors.length);
    for (const { codes } of CODE_AREAS) expect(Object.keys(codes)).toEqual(Object.keys(codes).sort());
  });

  test('have sentences in the style of messages', () => {
    for (const { code, meaning, remedy } of listed) {
      expect(code).toMatch(/^[a-z0-9]+(?:_[a-z0-9]+)*$/);
      for (const sentence of [meaning, remedy]) {
        expect(sentence, code).toMatch(/^[a-z`]/);
        expect(sentence, code).not.toMatch(/[.]$|\n/);
      }
    }
  });
});
