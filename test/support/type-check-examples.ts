/**
 * Type-checks examples of documentation against the public entry points (`edgeplan/compiler` …). In: the `@example`s of
 * doc comments, the `ts` blocks of Markdown. Out: the compiler's errors, each with the example and its line.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** Imports of octets, which bundlers turn into values; a declaration file beside the examples. */
const OCTETS: readonly [string, Example] = [
  join(ROOT, 'test/example-octets.d.ts'),
  {
    name: 'octets',
    code:
      "declare module '*.edgeplan' { const octets: Uint8Array; export default octets; }\n" +
      "declare module '@edgeplan/edge/starter.bin' { const octets: Uint8Array; export default octets; }\n",
  },
];
const FENCED = /^```(?:ts|typescript)\n([\s\S]*?)^```$/gm;

/** One example. */
export interface Example {
  /** For error messages: `README.md:217`, `src/engine/plan/seal.ts, seal`. */
  readonly name: string;
  /** A whole module: its imports included, `await` allowed at its top. */
  readonly code: string;
}

/** The `ts` blocks of a Markdown file, named by path and line. */
export function markdownExamples(path: string): readonly Example[] {
  return fencedExamples(readFileSync(join(ROOT, path), 'utf8'), (line) => `${path}:${line}`);
}

/** The `@example`s of a source file, named by path and declaration. */
export function docExamples(path: string): readonly Example[] {
  const source = ts.createSourceFile(
    path,
    readFileSync(join(ROOT, path), 'utf8'),
    ts.ScriptTarget.Latest,
    true,
  );
  const found: Example[] = [];
  const visit = (node: ts.Node): void => {
    for (const tag of ts.getJSDocTags(node)) {
      if (tag.tagName.text !== 'example' || tag.parent.parent !== node) continue;
      const text = ts.getTextOfJSDocComment(tag.comment) ?? '';
      const name = (node as { readonly name?: ts.Node }).name?.getText(source) ?? '';
      found.push(...fencedExamples(`${text}\n`, () => `${path}, ${name}`));
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

function fencedExamples(text: string, name: (line: number) => string): readonly Example[] {
  return [...text.matchAll(FENCED)].map((match) => ({
    name: name(text.slice(0, match.index).split('\n').length),
    code: match[1]!,
  }));
}

/** The errors of the examples as `name: line 3: message`; each example is a module of its own. */
export function typecheckExamples(examples: readonly Example[]): readonly string[] {
  const files = new Map(examples.map((example, index) => [join(ROOT, `test/example-${index}.ts`), example]));
  const options = compilerOptions();
  const host = hostWith(new Map([...files, OCTETS]), options);
  const roots = [...files.keys(), OCTETS[0], ...entryPoints().values()];
  const program = ts.createProgram(roots, options, host);
  return [...files].flatMap(([file, { name }]) => {
    const source = program.getSourceFile(file)!;
    const found = [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)];
    return found.map(({ start = 0, messageText }) => {
      const line = source.getLineAndCharacterOfPosition(start).line + 1;
      return `${name}: line ${line}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`;
    });
  });
}

/** The source of each entry point of every package, by the name that users import. */
function entryPoints(): ReadonlyMap<string, string> {
  const packages = readdirSync(join(ROOT, 'packages'), { withFileTypes: true }).filter((one) =>
    one.isDirectory(),
  );
  const manifests = ['package.json', ...packages.map(({ name }) => `packages/${name}/package.json`)];
  return new Map(manifests.flatMap((path) => [...entriesOf(path)]));
}

/** The source of each entry point in one manifest. */
function entriesOf(manifest: string): ReadonlyMap<string, string> {
  const { name, exports } = JSON.parse(readFileSync(join(ROOT, manifest), 'utf8')) as {
    name: string;
    exports: Record<string, string | { readonly types: string }>;
  };
  const typed = Object.entries(exports).flatMap(([path, target]) => {
    if (typeof target === 'string') return [];
    const source = target.types.replace(/^\.\/dist\/(?:types\/)?/, 'src/').replace(/\.d\.ts$/, '.ts');
    return [[join(name, path), join(ROOT, source)] as const];
  });
  return new Map(typed);
}

/** The tests' own options; an example may declare what it does not use. */
function compilerOptions(): ts.CompilerOptions {
  const path = join(ROOT, 'test/tsconfig.json');
  const { options } = ts.parseJsonConfigFileContent(
    ts.readConfigFile(path, ts.sys.readFile).config,
    ts.sys,
    dirname(path),
  );
  const paths = Object.fromEntries([...entryPoints()].map(([name, source]) => [name, [source]]));
  return { ...options, paths, moduleDetection: ts.ModuleDetectionKind.Force, noUnusedLocals: false };
}

/** The disk with the examples as files on it. */
function hostWith(files: ReadonlyMap<string, Example>, options: ts.CompilerOptions): ts.CompilerHost {
  const host = ts.createCompilerHost(options, true);
  const { fileExists, readFile, getSourceFile } = host;
  return {
    ...host,
    fileExists: (path) => files.has(path) || fileExists(path),
    readFile: (path) => files.get(path)?.code ?? readFile(path),
    getSourceFile: (path, languageVersion, ...rest) => {
      const code = files.get(path)?.code;
      if (code === undefined) return getSourceFile(path, languageVersion, ...rest);
      return ts.createSourceFile(path, code, languageVersion, true);
    },
  };
}
