/** The page as it is bundled: its size without and with the evaluator, what it is made of, and that its licences are with it. */
import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import type { BuildResult } from 'esbuild';
import { beforeAll, describe, expect, test } from 'vitest';
import { buildPage } from '../../src/page/panel/build-page.ts';

/**
 * Octets of gzip: of the script that draws the page, and of the evaluator that an ordinary plan needs; raised from 56 KiB for
 * conditions of rules, which take 4 KiB, and from 61 KiB for captures of redirects, for keys of rate limits that consist of parts,
 * their header fields and counts by status, for headers rules and for lists; from 69 KiB for registries, from 70 KiB for gateways,
 * from 77 KiB for schemas of bodies, quotas and client certificates, and from 84 KiB for `concurrency` of usage plans. The page:
 * from 42 KiB for fields that are an object or null, and for what it shares with the chunk of gateways, which is compressed by itself.
 */
const MOST_PAGE = 44 * 1024;
/** Of the section of gateways, which loads when it is first opened. */
const MOST_GATEWAYS = 9 * 1024;
const MOST_EVALUATOR = 85 * 1024;

let built: BuildResult<{ metafile: true }>;
beforeAll(async () => {
  built = await buildPage('/page', { write: false });
});

/** An output by the beginning of its name. */
function outputOf(name: string): string {
  const found = Object.keys(built.metafile.outputs).find((path) =>
    new RegExp(`/${name}(?:-[A-Z0-9]{8})?\\.js$`).test(path),
  );
  if (found === undefined) throw new Error(`there is no output ${name}`);
  return found;
}

/** An output with all that it imports when it loads. */
function closureOf(path: string, known = new Set<string>()): ReadonlySet<string> {
  if (known.has(path)) return known;
  known.add(path);
  for (const { path: to, kind } of built.metafile.outputs[path]!.imports)
    if (kind === 'import-statement') closureOf(to, known);
  return known;
}

function gzipped(paths: Iterable<string>): number {
  const names = [...paths].map((path) => path.split('/').at(-1)!);
  const files = built.outputFiles!.filter(({ path }) => names.includes(path.split('/').at(-1)!));
  return files.reduce((sum, { contents }) => sum + gzipSync(contents, { level: 9 }).length, 0);
}

describe('the page', () => {
  test('its sizes are within the bounds', () => {
    const page = closureOf(outputOf('page'));
    const engine = [...closureOf(outputOf('engine'))].filter((path) => !page.has(path));
    const later = ['build', 'idna-tables', 'load', 'test-writer'].map((name) => {
      const own = [...closureOf(outputOf(name))].filter((path) => !page.has(path) && !engine.includes(path));
      return `${name} ${gzipped(own)}`;
    });
    const css = gzipped(['page.css']);
    console.info(
      `page: ${gzipped(page)} octets of gzip, styles ${css}; evaluator ${gzipped(engine)}; on demand ${later.join(', ')}`,
    );
    expect(gzipped(page)).toBeLessThan(MOST_PAGE);
    const withApi = new Set([...page, ...closureOf(outputOf('api')), ...closureOf(outputOf('shell'))]);
    console.info(`page with its sections over the API: ${gzipped(withApi)} octets of gzip`);
    expect(gzipped(withApi)).toBeLessThan(MOST_PAGE);
    const gateways = [...closureOf(outputOf('gateways-section'))].filter((path) => !withApi.has(path));
    console.info(`section of gateways: ${gzipped(gateways)} octets of gzip`);
    expect(gzipped(gateways)).toBeLessThan(MOST_GATEWAYS);
    expect(gzipped(engine)).toBeLessThan(MOST_EVALUATOR);
  });

  test('loads no code but its own, and the notices name every package in it', () => {
    const packages = new Set(
      Object.keys(built.metafile.inputs).flatMap(
        (path) => /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1] ?? [],
      ),
    );
    const notices = readFileSync(new URL('../../src/page/panel/NOTICES.md', import.meta.url), 'utf8');
    expect([...packages].filter((name) => !notices.includes(`## ${name}\n`))).toEqual([]);
    const foreign = Object.keys(built.metafile.inputs).filter((path) => path.startsWith('node:'));
    expect(foreign).toEqual([]);
  });
});
