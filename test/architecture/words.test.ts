/** One word, one meaning (`src/README.md`, "Glossary"), as far as a program can see it. */
import { readdirSync, readFileSync } from 'node:fs';
import { join, sep } from 'node:path';
import ts from 'typescript';
import { describe, expect, test } from 'vitest';

const SRC = new URL('../../src/', import.meta.url).pathname;
/** Written by a generator from the OpenAPI document. */
const GENERATED = 'control/client/schema.ts';

const FILES = readdirSync(SRC, { recursive: true, encoding: 'utf8' })
  .map((path) => path.split(sep).join('/'))
  .filter((path) => path.endsWith('.ts') && !path.endsWith('.d.ts') && path !== GENERATED)
  .sort();

const SOURCES = FILES.map((file) => {
  const text = readFileSync(join(SRC, file), 'utf8');
  return { file, text, tree: ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true) };
});

/** Names that a package's users see beside a name of the same meaning inside. */
const PUBLIC: ReadonlySet<string> = new Set([]);

/** Folders with parts of their own: a room there is one of its folders. */
const DIVIDED = [
  'cli',
  'control/api',
  'control/store',
  'engine/evaluator',
  'engine/waf/detectors',
  'engine/waf',
  'workbench/importers',
  'workbench/proofs',
];

function roomOf(file: string): string {
  const folders = file.split('/').slice(0, -1);
  const divided = DIVIDED.find((one) => file.startsWith(`${one}/`));
  const depth = divided === undefined ? 2 : divided.split('/').length + 1;
  return folders.slice(0, depth).join('/');
}

function exportedTypes(tree: ts.SourceFile): readonly string[] {
  return tree.statements.flatMap((statement) => {
    const isType =
      ts.isInterfaceDeclaration(statement) ||
      ts.isTypeAliasDeclaration(statement) ||
      ts.isClassDeclaration(statement);
    if (!isType) return [];
    const isExported = statement.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) ?? false;
    return isExported && statement.name !== undefined ? [statement.name.text] : [];
  });
}

describe('words', () => {
  test('an exported type has a name that no other room exports', () => {
    const rooms = new Map<string, Set<string>>();
    for (const { file, tree } of SOURCES) {
      for (const name of exportedTypes(tree)) {
        rooms.set(name, (rooms.get(name) ?? new Set()).add(roomOf(file)));
      }
    }
    const shared = [...rooms].filter(([name, where]) => where.size > 1 && !PUBLIC.has(name));
    expect(shared.map(([name, where]) => `${name}: ${[...where].join(', ')}`)).toEqual([]);
    expect(rooms.size).toBeGreaterThan(500);
  });

  test('no room has more than 9,000 lines', () => {
    const lines = new Map<string, number>();
    for (const { file, text } of SOURCES) {
      lines.set(roomOf(file), (lines.get(roomOf(file)) ?? 0) + text.split('\n').length - 1);
    }
    expect([...lines].filter(([, count]) => count > 9_000)).toEqual([]);
  });

  test('at least 15 percent of all lines that are not empty are comments', () => {
    let comments = 0;
    let all = 0;
    for (const { text } of SOURCES) {
      for (const line of text.split('\n')) {
        const trimmed = line.trim();
        if (trimmed === '') continue;
        all++;
        if (/^(\/\/|\/\*|\*)/.test(trimmed)) comments++;
      }
    }
    expect(comments / all).toBeGreaterThanOrEqual(0.15);
  });

  test('a file that exports something opens with a comment that says what it does', () => {
    const silent = SOURCES.filter(
      ({ text, tree }) =>
        !/^(#!.*\n)?\s*(\/\*|\/\/)/.test(text) &&
        tree.statements.some(
          (one) =>
            ts.canHaveModifiers(one) &&
            ts.getModifiers(one)?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword),
        ),
    );
    expect(silent.map(({ file }) => file)).toEqual([]);
  });
});
