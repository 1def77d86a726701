/**
 * Builds the packages of this folder from `src` and from the root's `dist`. Of each: one ES module for each entry, with
 * shared code in chunks, the declarations that the entries reach, and the licences.
 *
 * Packages share no code at run time: each has its own copy of what it needs, so that two versions cannot meet in one.
 */
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { build, type Metafile, type Plugin } from 'esbuild';

/** The folder of the repository, from which commands and tests run this. */
const ROOT = process.cwd();

/** How a package is built. */
export interface PackageBuild {
  /** The source of each entry, by the name of its module in `dist`. */
  readonly entries: Readonly<Record<string, string>>;
  /** Whether other packages' code is part of it; else it imports them, and they are its dependencies. */
  readonly standalone: boolean;
  /** Whether it has the sealed starter signatures. */
  readonly signatures: boolean;
}

/** Characters of a line in a module without white space. */
const LINE_LIMIT = 200;

/** The packages by folder. */
export const PACKAGES: Readonly<Record<string, PackageBuild>> = {
  evaluator: {
    entries: { index: 'src/engine/evaluator/index.ts' },
    standalone: true,
    signatures: false,
  },
  compiler: {
    entries: { index: 'src/engine/compiler/index.ts' },
    standalone: false,
    signatures: false,
  },
  edge: {
    entries: {
      decide: 'src/edge/middleware/decide/index.ts',
      fetch: 'src/edge/middleware/fetch/index.ts',
      node: 'src/edge/middleware/node/index.ts',
    },
    standalone: false,
    signatures: true,
  },
};

/** Entries of the package `edgeplan`, as messages and comments name them, and where the packages have them. */
const RENAMED: Readonly<Record<string, string>> = {
  evaluator: '@edgeplan/evaluator',
  compiler: '@edgeplan/compiler',
  decide: '@edgeplan/edge/decide',
  node: '@edgeplan/edge/node',
  fetch: '@edgeplan/edge/fetch',
  'starter.bin': '@edgeplan/edge/starter.bin',
};
const ENTRY_NAME = /(?<![\w/@.-])edgeplan\/(evaluator|compiler|decide|node|fetch|starter\.bin)\b/g;

/** Text in which entries have the names of the packages. */
function renamed(text: string): string {
  return text.replace(ENTRY_NAME, (_, entry: string) => RENAMED[entry]!);
}

/** The exports at the start of a line, where tools that tell ES modules from scripts look for them. */
function withExportsApart(text: string): string {
  return text.replace(/(?<!\n)export\{[^{}]*\};?\n*$/, '\n$&');
}

/**
 * `tr46` at its first use: its tables take longer to load than all the rest of the evaluator, and only hosts that are not
 * ASCII need them. JSON is parsed several times as fast as the same object in the source.
 */
const LAZY_TABLES: Plugin = {
  name: 'lazy-tables',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^tr46$/ }, ({ importer, kind }) =>
      kind === 'import-statement' && importer.startsWith(join(ROOT, 'src'))
        ? { path: 'tr46', namespace: 'lazy' }
        : undefined,
    );
    onLoad({ filter: /^tr46$/, namespace: 'lazy' }, () => ({
      contents: `export function toASCII(host, options) { return require('tr46').toASCII(host, options); }`,
      resolveDir: ROOT,
    }));
    onLoad({ filter: /\.json$/ }, ({ path }) => {
      const compact = JSON.stringify(JSON.parse(readFileSync(path, 'utf8')));
      return { contents: `module.exports = JSON.parse(${JSON.stringify(compact)});` };
    });
  },
};

/** The modules of a package. */
export interface PackageModules {
  /** What each consists of and imports. */
  readonly metafile: Metafile;
  readonly outputFiles: readonly { readonly path: string; readonly text: string }[];
}

/** Bundles the modules of a package for a folder, and writes nothing. */
export function bundlePackage(name: string, outdir: string): Promise<PackageModules> {
  const { entries, standalone } = PACKAGES[name]!;
  return build({
    absWorkingDir: ROOT,
    entryPoints: { ...entries },
    outdir,
    bundle: true,
    splitting: true,
    format: 'esm',
    target: 'es2023',
    // Neither reads `process` nor adds anything of Node.
    platform: 'neutral',
    external: ['node:*'],
    minifySyntax: true,
    // Reading the text is most of an import. Names stay, and lines are short enough for stack traces.
    minifyWhitespace: standalone,
    lineLimit: standalone ? LINE_LIMIT : 0,
    legalComments: 'none',
    metafile: true,
    write: false,
    logLevel: 'warning',
    ...(standalone
      ? { mainFields: ['module', 'main'], plugins: [LAZY_TABLES] }
      : { packages: 'external' as const }),
  });
}

/** Builds one package into a folder, which gets `dist` and `LICENSE`. The root's `dist` must be up to date. */
export async function buildPackage(name: string, folder: string): Promise<void> {
  const { entries, standalone, signatures } = PACKAGES[name]!;
  const outdir = join(folder, 'dist');
  rmSync(outdir, { recursive: true, force: true });
  const { metafile, outputFiles } = await bundlePackage(name, outdir);
  for (const { path, text } of outputFiles) write(path, withExportsApart(renamed(text)));
  const manifest = readFileSync(join(ROOT, 'packages', name, 'package.json'), 'utf8');
  const installed = new Set(Object.keys(JSON.parse(manifest).dependencies ?? {}));
  for (const file of declarationsOf(Object.values(entries))) {
    const text = readFileSync(join(ROOT, 'dist', file), 'utf8');
    write(join(outdir, 'types', file), withoutAbsent(renamed(text), installed));
  }
  if (signatures) {
    for (const file of ['starter.bin', 'starter.bin.d.ts'])
      cpSync(join(ROOT, 'dist/engine/waf/signatures', file), join(outdir, file));
  }
  cpSync(join(ROOT, 'LICENSE'), join(folder, 'LICENSE'));
  if (standalone) write(join(outdir, 'third-party-licenses.txt'), licencesOf(metafile));
}

/**
 * Declarations that compile also where a package is missing that is no dependency: its types are `any` then, and extensions
 * of them have no effect. No declaration of ours that has such a type is for users of the package.
 */
function withoutAbsent(text: string, installed: ReadonlySet<string>): string {
  return text.replace(/^(?:import .* from|declare module) '([^.'][^']*)'/gm, (line, specifier: string) =>
    isBuiltin(specifier) || installed.has(packageOf(specifier))
      ? line
      : `// @ts-ignore: \`${specifier}\` may be missing\n${line}`,
  );
}

/** The package that a specifier names a module of. */
export function packageOf(specifier: string): string {
  return /^(?:@[^/]+\/)?[^/]+/.exec(specifier)![0];
}

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

/** The declaration files that sources reach, as paths below the root's `dist`. */
function declarationsOf(sources: readonly string[]): ReadonlySet<string> {
  const found = new Set<string>();
  const waiting = sources.map((source) => declarationOf(relative('src', source)));
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    if (found.has(file)) continue;
    found.add(file);
    const text = readFileSync(join(ROOT, 'dist', file), 'utf8');
    for (const [, path] of text.matchAll(/(?:from |import\(?)'(\.[^']+)'/g))
      waiting.push(declarationOf(join(dirname(file), path!)));
  }
  return found;
}

function declarationOf(module: string): string {
  return module.replace(/\.[jt]s$/, '.d.ts');
}

/** The licences of the packages whose code is part of a build. */
function licencesOf({ inputs }: Metafile): string {
  const folders = Object.keys(inputs).flatMap(
    (path) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path) ?? [],
  );
  const texts = [...new Set(folders)].sort().map((folder) => {
    const { name, version } = JSON.parse(readFileSync(join(ROOT, folder, 'package.json'), 'utf8'));
    const file = ['LICENSE', 'LICENSE.md', 'LICENSE-MIT.txt'].map((one) => join(ROOT, folder, one));
    return `${name} ${version}\n\n${readFirst(file)}`;
  });
  return `This package contains code of other packages, under these licences.\n\n${texts.join('\n\n')}`;
}

/** The first of some files that is there. @throws Error when none is */
function readFirst([file, ...others]: readonly string[]): string {
  if (file === undefined) throw new Error('a package whose code is bundled has no licence file');
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return readFirst(others);
  }
}
