/**
 * Laws of tuning: a plain recount of the log gives the counts of the report, and the order of lines changes nothing that is
 * counted.
 */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { observeLine } from '../../src/workbench/tuning/observe.ts';
import { covers } from '../../src/workbench/tuning/places.ts';
import { createTuning, type TunedRule, type TuningReport } from '../../src/workbench/tuning/tune.ts';
import { type LoggedMatch, markup, NOON, type WafLineParts, wafLine } from '../support/waf-log.ts';

/** A request as the plain recount sees it. */
interface Sent extends WafLineParts {
  readonly ip: string;
  readonly path: string;
  readonly matches: readonly LoggedMatch[];
}

// Few values, so that groups have several visitors and visitors several groups.
const MATCH: fc.Arbitrary<LoggedMatch> = fc
  .record({
    id: fc.constantFrom(1, 2, 3),
    score: fc.constantFrom(2, 3, 5),
    target: fc.constantFrom('ARGS:body', 'ARGS:title', 'REQUEST_HEADERS:user-agent', ''),
  })
  .map((some) => markup({ ...some, category: ['sqli', 'xss', 'rce'][some.id - 1]! }));
const SENT: fc.Arbitrary<Sent> = fc.record({
  ip: fc.integer({ min: 1, max: 30 }).map((host) => `192.0.2.${host}`),
  path: fc.oneof(
    fc.constantFrom('/', '/login', '/articles/1', '/articles/2', '/a;b/c', '/a%25b'),
    fc.integer({ min: 1, max: 12 }).map((page) => `/posts/${page}/edit`),
    fc.integer({ min: 1, max: 12 }).map((page) => `/p${page}`),
  ),
  // One match of a signature each, as nodes log them.
  matches: fc.uniqueArray(MATCH, { maxLength: 3, selector: ({ id }) => id }),
  fromPage: fc.boolean(),
  status: fc.constantFrom(200, 302, 404, 500),
  at: fc.integer({ min: 0, max: 9 }).map((hour) => NOON + hour * 3_600_000),
});
/** People who write in articles, among whom some requests of others make no likely false positive unclear. */
const EDITORS: readonly Sent[] = Array.from({ length: 60 }, (_, person) => ({
  ...{ ip: `198.51.100.${person}`, path: `/articles/${person % 9}`, fromPage: true, status: 200 },
  ...{ at: NOON + (person % 9) * 3_600_000, matches: [markup({ id: 2 })] },
}));
const LOG = fc
  .tuple(fc.array(SENT, { minLength: 1, maxLength: 120 }), fc.boolean())
  .map(([log, hasEditors]) => (hasEditors ? [...log, ...EDITORS] : log));

function report(log: readonly Sent[], minVisitors = 3): TuningReport {
  const tuning = createTuning({ minVisitors, threshold: 5 });
  for (const sent of log) tuning.add(observeLine(wafLine(sent))!);
  return tuning.report();
}

const scoreOf = (matches: readonly LoggedMatch[]): number =>
  matches.reduce((sum, { score }) => sum + score, 0);

/** The canonical path, as the recount needs it for these few paths. */
const canonical = (path: string): string => path.replace('%25', '%');

interface Excluded {
  readonly id: number | null;
  readonly target: string;
  readonly path: string;
}

const isCovered = (sent: Sent, match: LoggedMatch, { id, target, path }: Excluded): boolean =>
  match.id === id && (target === '' || match.target === target) && covers(path, canonical(sent.path));

/** The blocked requests with a covered match that score too little without all covered ones. */
function released(blocked: readonly Sent[], exclusions: readonly Excluded[]): readonly Sent[] {
  return blocked.filter((sent) => {
    const left = sent.matches.filter((match) => !exclusions.some((one) => isCovered(sent, match, one)));
    return left.length < sent.matches.length && scoreOf(left) < 5;
  });
}

function expectCounts(log: readonly Sent[], { blocked, groups, released: sum }: TunedRule): void {
  const all = log.filter(({ matches }) => scoreOf(matches) >= 5);
  expect(blocked).toBe(all.length);
  const pairs = all.flatMap((sent) => sent.matches.map((match) => ({ sent, match })));
  expect(groups.reduce((total, { facts }) => total + facts.requests, 0)).toBe(pairs.length);
  const proposed = groups
    .filter(({ verdict }) => verdict === 'false_positive')
    .flatMap(({ exclusions }) => exclusions.map(({ exclusion }) => exclusion));
  for (const { id, target, exclusions } of groups) {
    for (const { exclusion, requests, alone, together } of exclusions) {
      expect(exclusion).toMatchObject({ id, target });
      const touched = all.filter((sent) => sent.matches.some((match) => isCovered(sent, match, exclusion)));
      expect(requests).toBe(touched.length);
      expect(alone).toBe(released(touched, [exclusion]).length);
      expect(together).toBe(released(touched, [...proposed, exclusion]).length);
    }
  }
  expect(sum).toBe(released(all, proposed).length);
}

describe('tuning', () => {
  test('counts what a plain recount of the log counts', () => {
    let proposed = 0;
    fc.assert(
      fc.property(LOG, (log) => {
        const { rules, requests, inspected } = report(log);
        expect(requests).toBe(log.length);
        expect(inspected).toBe(log.filter(({ matches }) => matches.length > 0).length);
        for (const rule of rules) {
          expectCounts(log, rule);
          proposed += rule.groups.filter(({ verdict }) => verdict === 'false_positive').length;
        }
        if (rules.length === 0) expect(log.some(({ matches }) => scoreOf(matches) >= 5)).toBe(false);
      }),
    );
    expect(proposed).toBeGreaterThan(0);
  });

  test('counts the visitors, requests and answers of each signature and target', () => {
    fc.assert(
      fc.property(LOG, (log) => {
        const all = log.filter(({ matches }) => scoreOf(matches) >= 5);
        for (const { id, target, facts, cells } of report(log).rules.flatMap(groupsWithCells)) {
          const own = all.filter(
            (sent) =>
              cells(canonical(sent.path)) &&
              sent.matches.some((match) => match.id === id && match.target === target),
          );
          expect(facts.visitors).toBe(new Set(own.map(({ ip }) => ip)).size);
          expect(facts.requests).toBe(own.length);
          expect(facts.answers.refused).toBe(own.filter(({ status }) => status === 404).length);
          expect(facts.ownPages).toBe(own.filter(({ fromPage }) => fromPage).length);
        }
      }),
    );
  });

  test('gives the same counts for the lines in another order', () => {
    const counts = ({ rules }: TuningReport) =>
      rules.map(({ groups, ...rule }) => ({
        ...rule,
        groups: groups.map(({ examples: _, parts: __, exclusions, reasons, facts, ...group }) => ({
          ...group,
          facts: { ...facts, agentsOfOne: 0, sign: null },
          reasons: reasons.length,
          exclusions: exclusions.map(({ attackExamples: ___, ...exclusion }) => exclusion),
        })),
      }));
    fc.assert(
      fc.property(LOG, fc.infiniteStream(fc.nat()), (log, random) => {
        const shuffled = log.map((sent) => ({ sent, at: random.next().value as number }));
        shuffled.sort((left, right) => left.at - right.at);
        expect(counts(report(shuffled.map(({ sent }) => sent)))).toEqual(counts(report(log)));
      }),
    );
  });
});

/** The groups whose paths no other group of the same signature and target has. */
function groupsWithCells({ groups }: TunedRule) {
  return groups.flatMap((group) => {
    const cells = (path: string): boolean => group.paths.some((pattern) => covers(pattern, path));
    const isApart = groups.every(
      (other) => other === group || other.id !== group.id || other.target !== group.target,
    );
    return isApart ? [{ ...group, cells }] : [];
  });
}
