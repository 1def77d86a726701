/**
 * The compiled signatures against the naive interpreter: on every program and request both must come to the same ids,
 * scores, categories and denials. A failure names its case. `EDGEPLAN_PAIRS` sets how many (program, request) pairs are
 * tried, `EDGEPLAN_SEED` the first generated program. The Core Rule Set is compared over its own regression tests where
 * `EDGEPLAN_SUITES` has it.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { describe, expect, test } from 'vitest';
import { craftedLists } from '../../bench/subjects/waf-requests.ts';
import { describeDiagnostic } from '../../src/base/diagnostics/diagnostic.ts';
import type { EdgeRequest } from '../../src/engine/evaluator/request.ts';
import { loadSignatures } from '../../src/engine/waf/load/load.ts';
import type { WafInput, WafProgram, WafSettings } from '../../src/engine/waf/request/inspection.ts';
import { compileSignatures } from '../../src/engine/waf/seclang/compile.ts';
import { readFtwCases } from '../crs/ftw.ts';
import { compileCrs, crsSources, readCrsData } from '../crs/program.ts';
import { wireInput } from '../crs/run.ts';
import { interpretSecLang, type NaiveFinding, type NaiveProgram } from '../oracle/seclang/inspect.ts';
import { externalSuite } from '../support/external-suites.ts';
import { generateInspected } from '../support/generate-inspected.ts';
import { seeded } from '../support/generate-random.ts';
import { generateSecLang, generateSettings } from '../support/generate-seclang.ts';
import { requires } from '../support/requires.ts';
import { sizeOf } from '../support/size.ts';
import { starter } from '../support/starter.ts';
import { attackTraffic } from '../support/traffic/attacks.ts';
import { ordinaryTraffic } from '../support/traffic/ordinary.ts';

const PAIRS = sizeOf('EDGEPLAN_PAIRS', { usual: 4_100, full: 20_500 });
/** Crafted lists of small fields are slow to interpret: every eighth in a usual run. */
const LISTS = sizeOf('EDGEPLAN_LISTS', { usual: 8, full: 1_000 });
const FIRST_SEED = Number(process.env['EDGEPLAN_SEED'] ?? 1);
const { folder: CRS, missing: NO_CRS } = externalSuite('coreruleset');
const SUITE = join(CRS, 'tests/regression/tests');

/** Requests a generated program sees; its compilation and its memory of values are shared by them. */
const REQUESTS = 40;
/** Interpreting a whole signature set takes some 20 ms a request: of every 40 pairs one is of this kind. */
const SHARE_OF_SETS = 40;
/** Inspections that may give up for want of steps, whose findings say nothing: they must stay few. */
const MAX_EXHAUSTED = 0.01;
const HOURS = 3_600_000;

interface Both {
  readonly compiled: WafProgram;
  readonly naive: NaiveProgram;
  /** Rules that only compare the score with the threshold: where it is reached, they tell nothing more (`WafFinding.ids`). */
  readonly evaluating?: readonly number[];
}

/** What the interpreter finds, without the rules that are not told of. */
function expectedOf({ naive, evaluating = [] }: Both, input: WafInput, settings: WafSettings): NaiveFinding {
  const found = naive.inspect(input, settings);
  if (found.score < settings.threshold) return found;
  const { ids, matches } = found;
  const isTold = (id: number): boolean => !evaluating.includes(id);
  return { ...found, ids: ids.filter(isTold), matches: matches.filter(({ id }) => isTold(id)) };
}

interface Tally {
  pairs: number;
  matched: number;
  exhausted: number;
}

interface Case {
  readonly input: WafInput;
  readonly settings: WafSettings;
  readonly where: () => string;
}

/** Compares one inspection. `toEqual` tells a difference well and takes its time; it is asked only where there is one. */
function compare(both: Both, { input, settings, where }: Case, tally: Tally): void {
  const finding = both.compiled.inspect(input, settings);
  const { exhausted, ids, matches, score, categories, denied, bodyError } = finding;
  tally.pairs++;
  if (exhausted) {
    tally.exhausted++;
    return;
  }
  if (ids.length > 0) tally.matched++;
  const told = matches.map(({ id, severity, category, score }) => ({ id, severity, category, score }));
  const found: NaiveFinding = { score, ids, matches: told, categories, denied, bodyError };
  const expected = expectedOf(both, input, settings);
  if (!isDeepStrictEqual(found, expected)) expect(found, where()).toEqual(expected);
}

/** The tally says that something was compared: most requests match something, hardly any uses its budget up. */
function conclude(tally: Tally, pairs: number): void {
  expect(tally.pairs).toBe(pairs);
  expect(tally.matched / pairs).toBeGreaterThan(0.2);
  expect(tally.exhausted / pairs).toBeLessThan(MAX_EXHAUSTED);
}

const NO_DATA = { readData: () => null };

test('a generated program has the findings of the oracle for generated requests', { timeout: HOURS }, () => {
  const programs = Math.ceil((PAIRS * (1 - 1 / SHARE_OF_SETS)) / REQUESTS);
  const tally = { pairs: 0, matched: 0, exhausted: 0 };
  for (let seed = FIRST_SEED; seed < FIRST_SEED + programs; seed++) {
    const generated = generateSecLang(seed);
    const { text } = generated;
    const sources = [{ file: 'generated.conf', text }];
    const { program, diagnostics } = compileSignatures(sources, NO_DATA);
    if (program === null)
      throw new Error([`seed ${seed}`, ...diagnostics.map(describeDiagnostic), text].join('\n'));
    const both = { compiled: loadSignatures(program), naive: interpretSecLang(sources, NO_DATA) };
    const random = seeded(seed + 1_000_000);
    for (let index = 0; index < REQUESTS; index++) {
      const input = generateInspected(random);
      const settings = generateSettings(random, generated);
      const where = (): string =>
        `seed ${seed}, request ${index}\n${text}\n${JSON.stringify(input.request)}\n${JSON.stringify(settings)}`;
      compare(both, { input, settings, where }, tally);
    }
  }
  conclude(tally, programs * REQUESTS);
});

const STARTER = new URL('../../src/engine/waf/signatures/', import.meta.url);

function starterSources(): readonly { file: string; text: string }[] {
  return readdirSync(STARTER)
    .filter((file) => file.endsWith('.conf'))
    .sort()
    .map((file) => ({ file, text: readFileSync(new URL(file, STARTER), 'latin1') }));
}

/** `count` of a list, evenly spread. */
function sample<T>(list: readonly T[], count: number): readonly T[] {
  const taken = Math.min(count, list.length);
  return Array.from({ length: taken }, (_, index) => list[Math.floor((index * list.length) / taken)]!);
}

function inputOf(request: EdgeRequest): WafInput {
  const { body = null } = request;
  const octets = typeof body === 'string' ? new TextEncoder().encode(body) : body;
  return { request, body: octets, truncated: false };
}

test('the starter signatures have the findings of the oracle for attacks and ordinary traffic', {
  timeout: HOURS,
}, () => {
  const both = { compiled: starter().waf, naive: interpretSecLang(starterSources(), NO_DATA) };
  const count = Math.ceil(PAIRS / SHARE_OF_SETS / 2);
  const requests = [...sample(attackTraffic(), count), ...sample(ordinaryTraffic(), count)];
  const tally = { pairs: 0, matched: 0, exhausted: 0 };
  for (const [index, { request }] of requests.entries()) {
    const settings = { paranoia: 1 + (index % 4), threshold: 5, excludes: [], exclusions: [] };
    const where = (): string => `level ${settings.paranoia}, ${JSON.stringify(request)}`;
    compare(both, { input: inputOf(request), settings, where }, tally);
  }
  conclude(tally, requests.length);
});

test('the starter signatures have the findings of the oracle for lists of small fields', {
  timeout: HOURS,
}, () => {
  const tally = { pairs: 0, matched: 0, exhausted: 0 };
  const both = { compiled: starter().waf, naive: interpretSecLang(starterSources(), NO_DATA) };
  const lists = sample(craftedLists(8_192), LISTS);
  for (const [index, { name, request, body }] of lists.entries()) {
    const settings = { paranoia: 1 + (index % 4), threshold: 5, excludes: [], exclusions: [] };
    const where = (): string => `level ${settings.paranoia}, ${name}`;
    compare(both, { input: inputOf({ ...request, body }), settings, where }, tally);
  }
  conclude(tally, lists.length);
});

describe('the Core Rule Set', requires(NO_CRS), () => {
  test.each([1, 2, 3, 4])(
    'level %i has the findings of the oracle for its regression tests',
    { timeout: HOURS },
    (paranoia) => {
      const both = {
        compiled: loadSignatures(compileCrs(CRS)),
        naive: interpretSecLang(crsSources(CRS), { readData: readCrsData }),
        evaluating: [949_110, 949_111],
      };
      const stages = readFtwCases(SUITE).flatMap(({ name, stages }) =>
        stages.map(({ request }) => ({ name, request })),
      );
      const requests = sample(stages, Math.max(1, Math.ceil(PAIRS / SHARE_OF_SETS / 4)));
      const settings = { paranoia, threshold: 5, excludes: [], exclusions: [] };
      const tally = { pairs: 0, matched: 0, exhausted: 0 };
      for (const { name, request } of requests) {
        compare(
          both,
          { input: wireInput(request), settings, where: () => `${name}, level ${paranoia}` },
          tally,
        );
      }
      conclude(tally, requests.length);
    },
  );
});
