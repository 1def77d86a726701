/**
 * The evaluator as one file for a browser or a Worker: it holds nothing of Node, makes no code from text, runs where
 * there is nothing but what a Worker has, and decides there as it does here. Its size is told and capped.
 */
import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import ts from 'typescript';
import { beforeAll, describe, expect, test } from 'vitest';
import { compile, seal } from '../../src/engine/compiler/index.ts';
import { loadPlan } from '../../src/engine/evaluator/index.ts';
import { type Bundle, bundleOf, foreignIn, runBundle, sharesOf } from '../support/bundle.ts';
import { generateCase } from '../support/generate.ts';

const ENTRY = new URL('../../src/engine/evaluator/index.ts', import.meta.url).pathname;

/** Octets, minified. Raised only with a reason: every page and Worker loads them. */
const MOST_OCTETS = 564_000;
const MOST_GZIPPED = 172_000;
/**
 * Octets of our own code in it; raised from 90,000 for captures of rewrites, which are spans of the path as sent, and from 92,000
 * for what reads the state of rate counters, which a process hands over to the next, and from 93,000 for conditions of rules:
 * what reads headers, parameters and cookies, compares them, and explains it; from 106,000 for captures of redirects, for keys of
 * rate limits that consist of parts, their header fields and counts by status, for headers rules and for lists; from 125,000 for
 * registries, from 131,000 for gateways (operations, verdicts, answers, usage plans), and from 149,000 for quotas, client
 * certificates and schemas of bodies, limits of operations, and from 171,000 for `concurrency` of usage plans.
 */
const MOST_OWN = 173_000;

let bundle: Bundle;

beforeAll(async () => {
  bundle = await bundleOf(ENTRY, 'edgeplan');
});

describe('one file for every platform', () => {
  test('holds nothing of Node, makes no code from text, loads none', () => {
    expect(foreignIn(bundle)).toEqual([]);
  });

  test('its size is within the bounds', () => {
    const octets = Buffer.byteLength(bundle.code);
    const gzipped = gzipSync(bundle.code, { level: 9 }).length;
    const shares = sharesOf(bundle);
    const told = [...shares].map(
      ([name, size]) => `${name} ${size} (${Math.round((size / octets) * 100)} %)`,
    );
    console.info(`evaluator bundle: ${octets} octets, ${gzipped} gzipped; ${told.join(', ')}`);
    expect([...shares.keys()].sort()).toEqual(['edgeplan', 'punycode', 're2js', 'tr46']);
    expect(octets).toBeLessThan(MOST_OCTETS);
    expect(gzipped).toBeLessThan(MOST_GZIPPED);
    expect(shares.get('edgeplan')).toBeLessThan(MOST_OWN);
  });
});

/** What a Worker has besides the language itself, as far as an evaluator might ask for it. */
function workerContext(): Record<string, unknown> {
  return { crypto: globalThis.crypto, TextEncoder, TextDecoder, performance: { now: () => 0 } };
}

interface Bundled {
  readonly loadPlan: typeof loadPlan;
}

function runIn(globals: Record<string, unknown>): Bundled {
  return runBundle<Bundled>(bundle, 'edgeplan', globals);
}

describe('where there is no Node', () => {
  test.each([
    ['a Worker', workerContext],
    ['the bare language', () => ({})],
  ])('decides as here, in %s', (_name, makeContext) => {
    const { loadPlan: loadThere } = runIn(makeContext());
    let compared = 0;
    for (let seed = 1; seed <= 12; seed++) {
      const { ruleSet, requests } = generateCase(seed, 40, { answers: 0.3, conditions: { share: 0.3 } });
      const bytes = seal(compile(ruleSet).plan, { revision: seed });
      const options = { clock: () => 0, random: () => 0.5 };
      const here = loadPlan(bytes, options);
      const there = loadThere(bytes, options);
      for (const [index, request] of requests.entries()) {
        const where = `seed ${seed}, request ${index}`;
        expect(JSON.stringify(there.evaluate(request)), where).toBe(JSON.stringify(here.evaluate(request)));
        expect(JSON.stringify(there.explain(request)), where).toBe(JSON.stringify(here.explain(request)));
        compared++;
      }
    }
    expect(compared).toBe(480);
  });

  test('limits count with the seed of the platform', () => {
    const { loadPlan: loadThere } = runIn(workerContext());
    const { ruleSet, requests } = generateCase(4, 40);
    const there = loadThere(seal(compile(ruleSet).plan));
    const actions = requests.map((request) => there.evaluate(request).status);
    expect(actions).not.toContain(500);
  });

  test('refuses bytes that are no plan with the same sentence', () => {
    const { loadPlan: loadThere } = runIn(workerContext());
    expect(() => loadThere(new Uint8Array(400))).toThrow(
      'these bytes are not a plan: they do not start with `EPLN`',
    );
  });
});

test('compiles without the types of any platform', { timeout: 120_000 }, () => {
  const path = new URL('../../src/engine/evaluator/tsconfig.json', import.meta.url).pathname;
  const read = ts.getParsedCommandLineOfConfigFile(
    path,
    {},
    { ...ts.sys, onUnRecoverableConfigFileDiagnostic: fail },
  );
  expect(read!.options.types).toEqual([]);
  expect(read!.options.lib?.some((lib) => /dom|worker/i.test(lib))).toBe(false);
  expect(read!.fileNames.length).toBeGreaterThan(50);
  const program = ts.createProgram(read!.fileNames, read!.options);
  const told = ts
    .getPreEmitDiagnostics(program)
    .map(({ file, messageText }) => `${file?.fileName}: ${messageText}`);
  expect(told).toEqual([]);
  expect(JSON.parse(readFileSync(path, 'utf8')).include).toEqual([
    '../../base/addresses',
    '../../base/diagnostics',
    '../../base/octets',
    '../../base/paths',
    '../../base/regex',
    '../../base/text',
    '../../base/vocabulary',
    '../plan',
    '../waf/octets',
    '../waf/request',
    '../waf/load',
    '.',
  ]);
});

function fail(diagnostic: ts.Diagnostic): never {
  throw new Error(ts.flattenDiagnosticMessageText(diagnostic.messageText, '\n'));
}
