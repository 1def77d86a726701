/**
 * The packages of `packages/` by what their modules consist of: each depends on what its modules and declarations import,
 * neither more nor less, at the root's versions; the evaluator on nothing.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { bundlePackage, PACKAGES, packageOf } from '../../packages/build.ts';
import { OPTIONAL_PACKAGES } from '../../src/base/platform/optional-packages.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const NAMES = Object.keys(PACKAGES);

type Versions = Readonly<Record<string, string>>;

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly license: string;
  readonly engines: Versions;
  readonly dependencies?: Versions;
  readonly optionalDependencies?: Versions;
  readonly peerDependencies?: Versions;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional: boolean }>>;
}

function manifestOf(folder: string): Manifest {
  return JSON.parse(readFileSync(join(ROOT, folder, 'package.json'), 'utf8'));
}

const root = manifestOf('.');
const allVersions = { ...root.dependencies, ...root.optionalDependencies };

/** Packages whose types alone are used: an application that uses the types has them. */
const TYPES_ONLY = ['fastify'];

/** What the modules that an entry reaches import from other packages and from Node. */
function importsFrom(
  { outputs }: Awaited<ReturnType<typeof bundlePackage>>['metafile'],
  entry: string,
): ReadonlySet<string> {
  const [found, seen] = [new Set<string>(), new Set<string>()];
  const waiting = Object.keys(outputs).filter((path) => path.endsWith(`/dist/${entry}.js`));
  expect(waiting).toHaveLength(1);
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (seen.has(path)) continue;
    seen.add(path);
    for (const { path: target, external } of outputs[path]!.imports) {
      if (external === true) found.add(target);
      else waiting.push(target);
    }
  }
  return found;
}

test('every folder is a package that is built', () => {
  const folders = readdirSync(join(ROOT, 'packages'), { withFileTypes: true });
  expect(
    folders
      .filter((one) => one.isDirectory())
      .map(({ name }) => name)
      .sort(),
  ).toEqual([...NAMES].sort());
});

test('all packages have one version, one licence and one oldest Node', () => {
  for (const name of NAMES) {
    const { version, license, engines } = manifestOf(`packages/${name}`);
    expect({ name, version, license, engines }).toEqual({
      ...{ name, version: root.version, license: root.license, engines: root.engines },
    });
  }
});

test('the optional dependencies of `edgeplan` are the packages of its optional features', () => {
  expect(Object.keys(root.optionalDependencies ?? {}).sort()).toEqual(
    Object.values(OPTIONAL_PACKAGES).flat().sort(),
  );
});

describe.each(NAMES)('@edgeplan/%s', (name) => {
  const {
    dependencies = {},
    peerDependencies = {},
    peerDependenciesMeta = {},
  } = manifestOf(`packages/${name}`);
  const dist = join(ROOT, 'packages', name, 'dist');

  test('depends on what its modules import', async () => {
    const { metafile, outputFiles } = await bundlePackage(name, dist);
    const imported = Object.keys(PACKAGES[name]!.entries).flatMap((entry) => [
      ...importsFrom(metafile, entry),
    ]);
    // The driver of SQLite is required when a folder is locked.
    const required = outputFiles.some(({ text }) => text.includes('@photostructure/sqlite'));
    const used = new Set(imported.filter((one) => !isBuiltin(one)).map(packageOf));
    expect([...used].sort()).toEqual(Object.keys(dependencies).sort());
    expect(Object.keys(peerDependencies).sort()).toEqual(
      required ? ['@photostructure/sqlite', ...TYPES_ONLY].sort() : [],
    );
  });

  test('has the versions of the root', () => {
    for (const [one, version] of Object.entries(dependencies)) {
      expect([one, version]).toEqual([one, allVersions[one]]);
    }
    for (const [one, range] of Object.entries(peerDependencies)) {
      const [, major] = /^\^(\d+)\./.exec(range)!;
      expect([one, major]).toEqual([one, allVersions[one]!.split('.')[0]]);
      expect(peerDependenciesMeta[one]).toEqual({ optional: true });
    }
  });
});

test.each([
  ['evaluator', 'index'],
  ['compiler', 'index'],
  ['edge', 'fetch'],
])('@edgeplan/%s imports nothing of Node in its entry `%s`', async (name, entry) => {
  const { metafile } = await bundlePackage(name, join(ROOT, 'packages', name, 'dist'));
  expect([...importsFrom(metafile, entry)].filter((one) => isBuiltin(one))).toEqual([]);
});
