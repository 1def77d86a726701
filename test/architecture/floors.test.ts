/** The house (design, "The house"): which room imports which, held against every import in `src`. */
import { readdirSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { dirname, join, relative, sep } from 'node:path';
import ts from 'typescript';
import { describe, expect, test } from 'vitest';

const SRC = new URL('../../src/', import.meta.url).pathname;

/** Rooms from the ground floor up, each with the rooms it may import besides itself. */
const ROOMS: Readonly<Record<string, readonly string[] | 'any'>> = {
  base: [],
  platform: [],
  metrics: ['base'],
  telemetry: [],
  http: ['base'],
  model: ['base'],
  plan: ['base'],
  files: ['model', 'base'],
  importers: ['files', 'model', 'base'],
  dns: ['model', 'platform', 'base'],
  schema: [],
  store: ['model', 'platform', 'base'],
  database: ['schema', 'store', 'model', 'platform', 'base'],
  access: ['store', 'model', 'platform', 'base'],
  'waf/seclang': ['plan', 'base'],
  'waf/detectors': ['base'],
  'waf/octets': ['base'],
  'waf/operators': ['waf/octets', 'plan', 'base'],
  'waf/transformations': ['waf/octets', 'plan', 'base'],
  'waf/patterns': ['waf/octets', 'plan', 'base'],
  'waf/request': ['waf/patterns', 'waf/transformations', 'waf/operators', 'waf/octets', 'plan', 'base'],
  'waf/load': ['waf/request', 'waf/patterns', 'waf/operators', 'waf/detectors', 'waf/octets', 'plan', 'base'],
  'waf/signatures': ['waf/seclang', 'plan', 'base'],
  compiler: ['waf/seclang', 'files', 'model', 'plan', 'base'],
  evaluator: ['waf/request', 'plan', 'base'],
  counts: ['evaluator', 'plan', 'base'],
  answers: ['evaluator', 'http', 'base'],
  classify: ['base'],
  'access-logs': ['evaluator', 'files', 'base'],
  publisher: ['compiler', 'evaluator', 'database', 'store', 'model', 'plan', 'platform', 'base'],
  traffic: ['counts', 'evaluator', 'database', 'store', 'model', 'plan', 'platform', 'base'],
  logs: ['counts', 'database', 'store', 'model', 'platform', 'base'],
  footprint: ['traffic', 'store', 'plan', 'base'],
  notify: ['access', 'store', 'model', 'platform', 'base'],
  certificates: ['notify', 'store', 'model', 'plan', 'platform', 'base'],
  issuance: ['certificates', 'notify', 'dns', 'metrics', 'store', 'model', 'platform', 'base'],
  uptime: ['traffic', 'notify', 'store', 'model', 'platform', 'base'],
  lifecycle: ['notify', 'dns', 'access', 'store', 'model', 'platform', 'base'],
  zones: ['lifecycle', 'dns', 'metrics', 'database', 'store', 'model', 'platform', 'base'],
  billing: ['lifecycle', 'notify', 'access', 'traffic', 'counts', 'store', 'model', 'platform', 'base'],
  analysis: ['compiler', 'evaluator', 'model', 'plan', 'base'],
  recommendations: ['analysis', 'logs', 'traffic', 'counts', 'publisher', 'files', 'store', 'model', 'base'],
  simulator: [
    'access-logs',
    'files',
    'analysis',
    'classify',
    'compiler',
    'evaluator',
    'model',
    'plan',
    'base',
  ],
  mutation: ['simulator', 'files', 'analysis', 'compiler', 'evaluator', 'model', 'plan', 'base'],
  buffers: ['http', 'platform', 'base'],
  'http-cache': ['buffers', 'http', 'platform', 'base'],
  markdown: ['buffers', 'http', 'platform', 'base'],
  sync: ['counts', 'answers', 'evaluator', 'plan', 'platform', 'base'],
  proxy: [
    'sync',
    'counts',
    'markdown',
    'http-cache',
    'buffers',
    'classify',
    'answers',
    'evaluator',
    'http',
    'telemetry',
    'metrics',
    'platform',
    'base',
  ],
  workers: ['proxy', 'sync', 'counts', 'metrics', 'plan', 'platform', 'base'],
  node: [
    'workers',
    'proxy',
    'sync',
    'counts',
    'markdown',
    'http-cache',
    'buffers',
    'answers',
    'evaluator',
    'waf/load',
    'access/redacting-log',
    'database/sqlite/take-folder',
    'telemetry',
    'metrics',
    'plan',
    'platform',
    'base',
  ],
  embed: [
    'files',
    'compiler',
    'proxy',
    'sync',
    'answers',
    'http',
    'platform',
    'evaluator',
    'waf/load',
    'waf/signatures',
    'database/sqlite/take-folder',
    'model',
    'plan',
    'base',
  ],
  client: [],
  reference: ['platform', 'base'],
  compute: [
    'recommendations',
    'simulator',
    'analysis',
    'compiler',
    'evaluator',
    'publisher',
    'traffic',
    'counts',
    'waf/load',
    'dns',
    'database',
    'store',
    'metrics',
    'model',
    'plan',
    'platform',
    'base',
  ],
  operation: [
    'certificates',
    'billing',
    'zones',
    'compute',
    'traffic',
    'logs',
    'notify',
    'lifecycle',
    'access',
    'publisher',
    'store',
    'model',
    'plan',
    'platform',
    'base',
  ],
  drafts: ['operation', 'compute', 'publisher', 'analysis', 'store', 'model', 'base'],
  panel: ['operation', 'client', 'simulator', 'files', 'evaluator', 'waf/load', 'model', 'plan', 'base'],
  api: [
    'panel',
    'certificates',
    'issuance',
    'drafts',
    'operation',
    'billing',
    'zones',
    'recommendations',
    'reference',
    'compute',
    'uptime',
    'footprint',
    'traffic',
    'logs',
    'notify',
    'counts',
    'lifecycle',
    'dns',
    'access',
    'simulator',
    'analysis',
    'publisher',
    'waf/load',
    'store',
    'telemetry',
    'metrics',
    'model',
    'plan',
    'http',
    'platform',
    'base',
  ],
  cli: 'any',
};

/** Rooms whose very bytes run in Node, a Worker and a browser, and the only packages they may use. */
const PORTABLE = [
  'base',
  'plan',
  'waf/detectors',
  'waf/octets',
  'waf/operators',
  'waf/transformations',
  'waf/patterns',
  'waf/request',
  'waf/load',
  'evaluator',
  'answers',
];
const PORTABLE_PACKAGES: Readonly<Record<string, readonly string[]>> = {
  base: ['re2js', 'tr46'],
  'waf/patterns': ['re2js'],
  answers: ['altcha-lib'],
};

/** The page is bundled when the package is built, so those who install it need neither its packages nor the bundler. */
const BUNDLED = /^panel\/(?:page\/|build-page\.ts$)/;

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

/** The room a file lies in; `null` where the table knows none. */
function roomOf(file: string): string | null {
  const [first = '', second = ''] = file.split('/');
  if (first === 'waf') return `waf/${second}` in ROOMS ? `waf/${second}` : null;
  return first in ROOMS && file.includes('/') ? first : null;
}

function mayImport(room: string, to: string): boolean {
  const allowed = ROOMS[room]!;
  const target = roomOf(to);
  if (target === null) return false;
  if (allowed === 'any' || target === room) return true;
  return allowed.some((one) => one === target || (one.startsWith(`${target}/`) && isWithin(to, one)));
}

/** Whether `file` is, or lies in, the part of a room that `part` names (`simulator/render`, `workbench/simulation/render-why.ts`). */
function isWithin(file: string, part: string): boolean {
  return file === `${part}.ts` || file.startsWith(`${part}/`) || file.startsWith(`${part}-`);
}

describe('the table itself', () => {
  test('leads downward only', () => {
    const order = Object.keys(ROOMS);
    for (const [room, allowed] of Object.entries(ROOMS)) {
      if (allowed === 'any') continue;
      for (const below of allowed) {
        const target = below.startsWith('waf/') ? below : below.split('/')[0]!;
        expect(order.indexOf(target), `${room} → ${below}`).toBeGreaterThanOrEqual(0);
        expect(order.indexOf(target), `${room} → ${below}`).toBeLessThan(order.indexOf(room));
      }
    }
  });

  test('sees stray arrows', () => {
    expect(mayImport('model', 'plan/layout.ts')).toBe(false);
    expect(mayImport('plan', 'model/types.ts')).toBe(false);
    expect(mayImport('evaluator', 'compiler/compile.ts')).toBe(false);
    expect(mayImport('evaluator', 'waf/seclang/lex.ts')).toBe(false);
    expect(mayImport('evaluator', 'waf/request/inspect.ts')).toBe(true);
    expect(mayImport('waf/request', 'waf/load/load.ts')).toBe(false);
    expect(mayImport('node', 'access/redacting-log.ts')).toBe(true);
    expect(mayImport('node', 'access/keys.ts')).toBe(false);
    expect(mayImport('panel', 'compiler/compile.ts')).toBe(false);
    expect(mayImport('cli', 'nowhere/x.ts')).toBe(false);
  });
});

describe('every file', () => {
  test('is read: the list of files and imports is not empty', () => {
    expect(FILES.length).toBeGreaterThan(80);
    expect(IMPORTS.length).toBeGreaterThan(300);
    expect(FILES).toContain('evaluator/evaluate.ts');
  });

  test('lies in a room of the table', () => {
    expect(FILES.filter((file) => roomOf(file) === null)).toEqual([]);
  });

  test('imports only rooms that its own may import', () => {
    const stray = IMPORTS.filter(({ from, to }) => to !== null && !mayImport(roomOf(from) ?? '', to));
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
    const { dependencies, devDependencies } = listed;
    const packages = IMPORTS.filter(({ to, specifier }) => to === null && !isBuiltin(specifier));
    const unlisted = packages.filter(({ from, specifier }) => {
      const name = packageOf(specifier);
      return !(name in dependencies || (BUNDLED.test(from) && name in devDependencies));
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
