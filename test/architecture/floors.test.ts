/** The house (design, "The house"): its wings and rooms in order, compared with every import in `src` and with the READMEs. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { dirname, join, relative, sep } from 'node:path';
import ts from 'typescript';
import { describe, expect, test } from 'vitest';

const SRC = new URL('../../src/', import.meta.url).pathname;

/**
 * The wings from the ground up, each with its rooms from the ground up. A file imports files of its own room and of rooms
 * before it in this list, of its own wing and of wings before it.
 */
const WINGS: Readonly<Record<string, readonly string[]>> = {
  base: [
    ...['vocabulary', 'diagnostics', 'text', 'octets', 'regex', 'json-schema', 'addresses', 'paths'],
    ...['platform', 'http', 'buffers', 'storage', 'telemetry'],
  ],
  rules: ['model', 'openapi', 'files'],
  engine: [
    ...['plan', 'waf/octets', 'waf/operators', 'waf/transformations', 'waf/patterns', 'waf/detectors'],
    ...['waf/request', 'rate-counters', 'evaluator', 'counts', 'classification', 'waf/load', 'waf/seclang'],
    ...['waf/signatures', 'compiler'],
  ],
  workbench: [
    ...['importers', 'access-logs', 'discovery', 'proofs', 'simulation', 'rule-tests', 'replay', 'tuning'],
    ...['mutation', 'door-check'],
  ],
  edge: [
    ...['handover', 'answers', 'cache', 'markdown', 'following', 'credentials', 'decide', 'proxy', 'doors'],
    ...['listeners', 'workers', 'node', 'middleware'],
  ],
  control: [
    ...['client', 'store', 'accounts', 'notices', 'publishing', 'traffic', 'logs', 'dns', 'certificates'],
    ...['lists', 'registry', 'domains', 'zones', 'billing', 'recommendations', 'compute', 'api'],
  ],
  page: ['panel', 'reference'],
  cli: [],
};

/** All rooms in order, as paths below `src`; a wing without rooms is one room. */
const ROOMS: readonly string[] = Object.entries(WINGS).flatMap(([wing, rooms]) =>
  rooms.length === 0 ? [wing] : rooms.map((room) => `${wing}/${room}`),
);

/**
 * What the order allows and must not be: a plan has all that its evaluation needs, and a node evaluates plans that others
 * compiled. Files below a path of the left must not import files below one of the right.
 */
const CLOSED: readonly (readonly [from: readonly string[], to: readonly string[]])[] = [
  [
    [
      'engine/plan',
      'engine/waf',
      'engine/rate-counters',
      'engine/evaluator',
      'engine/counts',
      'engine/classification',
    ],
    ['rules'],
  ],
  [
    ['edge/proxy', 'edge/node'],
    ['rules', 'engine/compiler', 'engine/waf/seclang', 'workbench'],
  ],
  [['page/panel'], ['engine/compiler', 'engine/waf/seclang']],
];

/** Rooms whose very bytes run in Node, a Worker and a browser, and the only packages they may use. */
const PORTABLE = [
  'base/vocabulary',
  'base/diagnostics',
  'base/text',
  'base/octets',
  'base/json-schema',
  'base/regex',
  'base/addresses',
  'base/paths',
  'engine/plan',
  'engine/waf/octets',
  'engine/waf/operators',
  'engine/waf/transformations',
  'engine/waf/patterns',
  'engine/waf/request',
  'engine/waf/detectors',
  'engine/waf/load',
  'engine/rate-counters',
  'engine/evaluator',
  'edge/answers',
  'edge/credentials',
];
const PORTABLE_PACKAGES: Readonly<Record<string, readonly string[]>> = {
  'base/regex': ['re2js'],
  'base/addresses': ['tr46'],
  'engine/waf/patterns': ['re2js'],
  'edge/answers': ['altcha-lib'],
  'edge/credentials': ['jose'],
};

/** The page is bundled when the package is built, so those who install it need neither its packages nor the bundler. */
const BUNDLED = /^page\/panel\/(?:page\/|build-page\.ts$)/;

interface Import {
  /** Path below `src`, with `/`. */
  readonly from: string;
  readonly specifier: string;
  /** Path below `src` of what a relative import names. */
  readonly to: string | null;
}

function sourceFiles(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((path) => path.split(sep).join('/'))
    .filter((path) => /\.[cm]?[jt]sx?$/.test(path))
    .sort();
}

const FILES = sourceFiles(SRC);

/** Every import of a file: static, type-only, re-exported, dynamic, `require`. */
function importsOf(file: string): readonly Import[] {
  const text = readFileSync(join(SRC, file), 'utf8');
  return ts.preProcessFile(text, true, true).importedFiles.map(({ fileName }) => {
    const relativeTo = fileName.startsWith('.') ? relative(SRC, join(SRC, dirname(file), fileName)) : null;
    return { from: file, specifier: fileName, to: relativeTo?.split(sep).join('/') ?? null };
  });
}

const IMPORTS = FILES.flatMap(importsOf);

/** The room a file lies in; `null` where the table has none. */
function roomOf(file: string): string | null {
  return ROOMS.find((room) => file.startsWith(`${room}/`)) ?? null;
}

/** Whether the order and `CLOSED` allow the import of one file, as a path below `src`, by another. */
function mayImport(from: string, to: string): boolean {
  const [own, target] = [roomOf(from), roomOf(to)];
  if (own === null || target === null || ROOMS.indexOf(target) > ROOMS.indexOf(own)) return false;
  return !CLOSED.some(([left, right]) => isBelow(from, left) && isBelow(to, right));
}

function isBelow(file: string, paths: readonly string[]): boolean {
  return paths.some((path) => file.startsWith(`${path}/`));
}

describe('the table itself', () => {
  test('sees stray imports', () => {
    expect(mayImport('rules/model/types.ts', 'engine/plan/layout.ts')).toBe(false);
    expect(mayImport('engine/plan/layout.ts', 'rules/model/types.ts')).toBe(false);
    expect(mayImport('engine/compiler/compile.ts', 'rules/model/types.ts')).toBe(true);
    expect(mayImport('engine/evaluator/evaluate.ts', 'engine/compiler/compile.ts')).toBe(false);
    expect(mayImport('engine/evaluator/evaluate.ts', 'engine/waf/seclang/source.ts')).toBe(false);
    expect(mayImport('engine/evaluator/evaluate.ts', 'engine/waf/request/inspect.ts')).toBe(true);
    expect(mayImport('engine/waf/request/inspect.ts', 'engine/waf/load/load.ts')).toBe(false);
    expect(mayImport('edge/node/start-node.ts', 'base/telemetry/redacting-log.ts')).toBe(true);
    expect(mayImport('edge/node/start-node.ts', 'control/accounts/keys.ts')).toBe(false);
    expect(mayImport('edge/node/start-node.ts', 'engine/compiler/compile.ts')).toBe(false);
    expect(mayImport('page/panel/open-panel.ts', 'engine/compiler/compile.ts')).toBe(false);
    expect(mayImport('control/api/serve.ts', 'page/panel/open-panel.ts')).toBe(false);
    expect(mayImport('cli/main.ts', 'page/panel/open-panel.ts')).toBe(true);
    expect(mayImport('cli/main.ts', 'nowhere/x.ts')).toBe(false);
  });

  test('names rooms and wings that exist', () => {
    const folders = readdirSync(SRC, { withFileTypes: true }).filter((entry) => entry.isDirectory());
    expect(folders.map(({ name }) => name).sort()).toEqual(Object.keys(WINGS).sort());
    for (const room of ROOMS)
      expect(FILES.filter((file) => roomOf(file) === room).length, room).toBeGreaterThan(0);
    const closed = CLOSED.flatMap(([from, to]) => [...from, ...to]);
    for (const path of [...closed, ...PORTABLE]) {
      expect(FILES.filter((file) => isBelow(file, [path])).length, path).toBeGreaterThan(0);
    }
  });

  test('is that of the READMEs of the wings, and the map has all wings', () => {
    for (const [wing, rooms] of Object.entries(WINGS)) {
      if (rooms.length === 0) continue;
      const readme = readFileSync(join(SRC, wing, 'README.md'), 'utf8');
      expect([...readme.matchAll(/^\| `([\w/-]+)\/` /gm)].map(([, room]) => room).reverse(), wing).toEqual(
        rooms,
      );
    }
    const map = readFileSync(join(SRC, 'README.md'), 'utf8');
    expect([...map.matchAll(/^(\w+)\/ {2,}/gm)].map(([, wing]) => wing).reverse()).toEqual(
      Object.keys(WINGS),
    );
    expect(Buffer.byteLength(map)).toBeLessThanOrEqual(8_192);
  });

  test('is that of the unit tests: each is in the folder of its source', () => {
    const unit = new URL('../unit/', import.meta.url).pathname;
    const tests = readdirSync(unit, { recursive: true, encoding: 'utf8' }).filter((path) =>
      path.endsWith('.test.ts'),
    );
    expect(tests.length).toBeGreaterThan(100);
    expect(tests.filter((path) => !existsSync(join(SRC, dirname(path))))).toEqual([]);
  });
});

describe('every file', () => {
  test('is read: the list of files and imports is not empty', () => {
    expect(FILES.length).toBeGreaterThan(80);
    expect(IMPORTS.length).toBeGreaterThan(300);
    expect(FILES).toContain('engine/evaluator/evaluate.ts');
  });

  test('lies in a room of the table', () => {
    expect(FILES.filter((file) => roomOf(file) === null)).toEqual([]);
  });

  test('imports only rooms that its own may import', () => {
    const stray = IMPORTS.filter(({ from, to }) => to !== null && !mayImport(from, to));
    expect(stray.map(({ from, to }) => `${from} → ${to}`)).toEqual([]);
  });

  test('imports files that are there, by their full name, never a test', () => {
    const known = new Set(FILES);
    const wrong = IMPORTS.filter(({ to }) => to !== null && !known.has(to) && !to.endsWith('.json'));
    expect(wrong.map(({ from, specifier }) => `${from}: ${specifier}`)).toEqual([]);
    expect(FILES.filter((file) => /\.(test|spec|bench)\./.test(file))).toEqual([]);
    expect(IMPORTS.filter(({ to }) => to?.startsWith('..')).map(({ from }) => from)).toEqual([]);
  });

  test('imports no file in a circle', () => {
    expect(circles()).toEqual([]);
  });

  test('imports packages that the package lists as its own', () => {
    const listed = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
    const { devDependencies } = listed;
    const installed = { ...listed.dependencies, ...listed.optionalDependencies };
    const packages = IMPORTS.filter(({ to, specifier }) => to === null && !isBuiltin(specifier));
    const unlisted = packages.filter(({ from, specifier }) => {
      const name = packageOf(specifier);
      return !(name in installed || (BUNDLED.test(from) && name in devDependencies));
    });
    expect(unlisted.map(({ from, specifier }) => `${from}: ${specifier}`)).toEqual([]);
  });
});

describe('rooms that run everywhere', () => {
  const portable = IMPORTS.filter(({ from }) => PORTABLE.includes(roomOf(from) ?? ''));

  test('import nothing of Node and no package but theirs', () => {
    const packages = (file: string): readonly string[] => PORTABLE_PACKAGES[roomOf(file)!] ?? [];
    const foreign = portable.filter(
      ({ from, to, specifier }) => to === null && !packages(from).includes(packageOf(specifier)),
    );
    expect(foreign.map(({ from, specifier }) => `${from}: ${specifier}`)).toEqual([]);
  });

  test('make no code from text and load none while they run', () => {
    const found = FILES.filter((file) => PORTABLE.includes(roomOf(file) ?? '')).flatMap(dynamicCode);
    expect(found).toEqual([]);
    expect(
      dynamicCodeIn("eval('1'); new Function('a'); import('./x.ts'); new RegExp(pattern); globalThis.eval"),
    ).toEqual(['eval', 'Function', 'import()', 'RegExp', 'eval']);
  });
});

function packageOf(specifier: string): string {
  const [scope, name] = specifier.split('/');
  return specifier.startsWith('@') ? `${scope}/${name}` : scope!;
}

/** Every circle of files, as the path that closes it. */
function circles(): readonly string[] {
  const targets = new Map(FILES.map((file) => [file, [] as string[]]));
  for (const { from, to } of IMPORTS) if (to !== null) targets.get(from)!.push(to);
  const found: string[] = [];
  const done = new Set<string>();
  const path: string[] = [];
  const visit = (file: string): void => {
    const at = path.indexOf(file);
    if (at >= 0) found.push([...path.slice(at), file].join(' → '));
    if (at >= 0 || done.has(file)) return;
    path.push(file);
    for (const to of targets.get(file) ?? []) visit(to);
    path.pop();
    done.add(file);
  };
  for (const file of FILES) visit(file);
  return found;
}

function dynamicCode(file: string): readonly string[] {
  return dynamicCodeIn(readFileSync(join(SRC, file), 'utf8')).map((what) => `${file}: ${what}`);
}

/** Uses of `eval`, `Function`, `import()`, and of `RegExp` on a pattern that is not written in the source. */
function dynamicCodeIn(text: string): readonly string[] {
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isIdentifier(node) && node.text === 'eval') found.push('eval');
    if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword)
      found.push('import()');
    if ((ts.isNewExpression(node) || ts.isCallExpression(node)) && ts.isIdentifier(node.expression)) {
      if (node.expression.text === 'Function' || node.expression.text === 'RegExp')
        found.push(node.expression.text);
    }
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile('source.ts', text, ts.ScriptTarget.Latest, false));
  return found;
}
