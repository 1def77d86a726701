/** What tuning proposes for synthetic logs, and what the exclusions would let through. */
import { describe, expect, test } from 'vitest';
import { observeLine } from '../../../../src/workbench/tuning/observe.ts';
import {
  createTuning,
  type TunedGroup,
  type TunedRule,
  type TuningOptions,
} from '../../../../src/workbench/tuning/tune.ts';
import {
  editorLines,
  markup,
  NOON,
  scannerLines,
  type WafLineParts,
  wafLine,
} from '../../../support/waf-log.ts';

type Lines = readonly Readonly<Record<string, unknown>>[];

function reportOf(lines: Lines, options: TuningOptions = {}) {
  const tuning = createTuning(options);
  for (const line of lines) tuning.add(observeLine(line)!);
  return tuning.report();
}

function ruleOf(lines: Lines, options: TuningOptions = {}): TunedRule {
  return reportOf(lines, options).rules[0]!;
}

const textOf = ({ reasons }: TunedGroup): string => reasons.map(({ text }) => text).join('\n');

describe('a rich-text editor of 80 visitors', () => {
  const rule = ruleOf(editorLines());

  test('is a likely false positive, with the reasons in numbers', () => {
    expect(rule.groups).toHaveLength(1);
    const [group] = rule.groups;
    expect(group).toMatchObject({
      verdict: 'false_positive',
      id: 11_335,
      name: 'markup',
      target: 'ARGS:body',
    });
    expect(group!.parts).toEqual(['<b onclick=']);
    expect(textOf(group!)).toBe(
      [
        '80 visitors of 80 on /articles/*',
        'no visitor shows signs of an attack',
        'no visitor triggered signatures of another category elsewhere',
        'the application answered 2xx or 3xx to 100 %',
        'a page of the site led to 100 %; 80 visitors of 80 had ordinary requests before',
        'in 8 hours of 1 day',
      ].join('\n'),
    );
  });

  test('gets the narrowest exclusion, which lets all of its requests through', () => {
    expect(rule.groups[0]!.exclusions).toEqual([
      {
        exclusion: { id: 11_335, tag: '', target: 'ARGS:body', path: '/articles/*' },
        ...{ requests: 80, alone: 80, together: 80, attacks: 0, attackExamples: [] },
      },
    ]);
    expect(rule).toMatchObject({ threshold: 5, blocked: 80, released: 80, attacks: 0, releasedAttacks: 0 });
  });

  test('is one under enforce too, where the application gave no answer', () => {
    const [group] = ruleOf(editorLines({ mode: 'enforce' })).groups;
    expect(group).toMatchObject({ verdict: 'false_positive', facts: { answers: { fine: 0 } } });
    expect(textOf(group!)).not.toContain('answered');
  });

  test('is one where the line of an earlier version has ids and targets only', () => {
    const older = (line: Readonly<Record<string, unknown>>) => {
      const text = JSON.stringify(line, (name, value) =>
        name === 'waf' && value !== null ? { score: 5, ids: [11_335], targets: ['ARGS:body'] } : value,
      );
      return JSON.parse(text) as Readonly<Record<string, unknown>>;
    };
    expect(ruleOf(editorLines().map(older)).groups[0]).toMatchObject({
      ...{ verdict: 'false_positive', name: '' },
      exclusions: [{ exclusion: { target: 'ARGS:body' }, together: 80 }],
    });
  });
});

test('a scanner of one address over 40 paths is a likely attack, and gets no exclusion', () => {
  const { groups, attacks, released } = ruleOf(scannerLines());
  expect(groups.length).toBeGreaterThan(0);
  for (const group of groups) {
    expect(group).toMatchObject({ verdict: 'attack', exclusions: [] });
    expect(textOf(group)).toMatch(/1 visitor shows signs of an attack, such as signatures of 4 categories/);
    expect(textOf(group)).toContain('the application answered 4xx to 100 %');
  }
  expect([attacks, released]).toEqual([40, 0]);
});

/** Requests with matches, one for each index. */
const several = (count: number, parts: (index: number) => WafLineParts): Lines =>
  Array.from({ length: count }, (_, index) =>
    wafLine({ matches: [markup()], path: '/comments', ...parts(index) }),
  );

test('a shared office behind one address is unclear, with the number of browsers as the reason', () => {
  const lines = several(60, (index) => ({
    ...{ ip: '198.51.100.1', agent: `Mozilla/5.0 ${index % 12}`, fromPage: true },
    at: NOON + (index % 6) * 3_600_000,
  }));
  const [group] = ruleOf(lines).groups;
  expect(group).toMatchObject({ verdict: 'unclear', exclusions: [{ exclusion: { path: '/comments' } }] });
  expect(textOf(group!)).toContain('1 visitor of 1 on /comments, fewer than 10');
  expect(textOf(group!)).toMatch(/one address sent 100 % .* with 4 or more browsers, as a shared office/);
  expect(ruleOf(lines).released).toBe(0);
});

test('a bot with two visitors that asks for what is not there is a likely attack', () => {
  const lines = several(20, (index) => ({ ip: `203.0.113.${index % 2}`, agent: 'curl', status: 404 }));
  expect(ruleOf(lines).groups[0]).toMatchObject({ verdict: 'attack', exclusions: [] });
});

test.each<[string, (index: number) => WafLineParts, RegExp]>([
  ['they come in one burst', () => ({ at: NOON }), /in 1 hour of 1 day, fewer than 3 hours/],
  ['no sign of people', () => ({ fromPage: false, path: '/a' }), /no page of the site led to them/],
  ['the application refuses them', () => ({ status: 400 }), /answered 4xx to 100 %/],
  ['the visitors are unknown', () => ({ ip: null }), /30 requests of unknown ones/],
])('what 30 addresses send is no false positive if %s', (_, change, reason) => {
  const plain = Array.from({ length: 70 }, (_, index) => wafLine({ ip: `10.0.0.${index}`, path: '/a' }));
  const lines = several(30, (index) => ({
    ...{ ip: `192.0.2.${index}`, at: NOON + (index % 5) * 3_600_000, fromPage: true },
    ...change(index),
  }));
  const [group] = ruleOf([...lines, ...plain]).groups;
  expect(group!.verdict).not.toBe('false_positive');
  expect(textOf(group!)).toMatch(reason);
});

test('the fewest visitors can be set', () => {
  expect(ruleOf(editorLines(), { minVisitors: 81 }).groups[0]!.verdict).toBe('unclear');
  expect(ruleOf(editorLines(), { minVisitors: 80 }).groups[0]!.verdict).toBe('false_positive');
});

test('several signatures of one text are excluded together, and what each does alone is reported', () => {
  const second = markup({ id: 11_340, name: 'event handler' });
  const both = several(80, (index) => ({
    ...{ ip: `192.0.2.${index}`, at: NOON + (index % 5) * 3_600_000, fromPage: true },
    matches: [markup(), second],
  }));
  const { groups, released } = ruleOf(both);
  expect(groups.map(({ id, verdict }) => [id, verdict])).toEqual([
    [11_335, 'false_positive'],
    [11_340, 'false_positive'],
  ]);
  for (const { exclusions } of groups) {
    expect(exclusions).toMatchObject([{ requests: 80, alone: 0, together: 80 }]);
  }
  expect(released).toBe(80);
});

test.each([
  ['the default, which the log does not contradict', 10, [], {}, 5],
  ['the lowest score that was blocked, if the default passed', 10, [7], {}, 10],
  ['the lowest score that was blocked, if it is less', 3, [2], {}, 3],
  ['the one that is given', 10, [], { threshold: 8 }, 8],
] as const)('the threshold is %s', (_, score, passed, options, threshold) => {
  const line = (points: number, limit: number) =>
    wafLine({ matches: [markup({ score: points })], threshold: limit });
  const lines = [line(score, score), ...passed.map((points) => line(points, score))];
  expect(ruleOf(lines, options).threshold).toBe(threshold);
});

test('attacks that an exclusion would let through are counted, with ids to look at', () => {
  const attack = wafLine({
    ...{ id: '00000000-0000-4000-8000-000000000001', ip: '203.0.113.9', agent: 'curl', at: NOON },
    ...{ path: '/articles/1', matches: [markup({ part: '<script>' })] },
  });
  const stopped = wafLine({
    ...{ ip: '203.0.113.9', agent: 'curl', at: NOON, path: '/articles/2' },
    matches: [markup(), markup({ id: 11_000, category: 'sqli', target: 'ARGS:id' })],
  });
  const rule = ruleOf([...editorLines(), ...scannerLines(), attack, stopped]);
  const [group] = rule.groups;
  expect(group).toMatchObject({ verdict: 'false_positive', facts: { suspicious: 1, suspiciousRequests: 2 } });
  expect(group!.exclusions).toMatchObject([
    { requests: 82, alone: 81, together: 81, attacks: 1, attackExamples: [attack['id']] },
  ]);
  expect(rule).toMatchObject({ blocked: 122, released: 81, attacks: 42, releasedAttacks: 1 });
});

test('a request that is blocked whatever its score is let through by no exclusion', () => {
  for (const verdict of [{ denied: true }, { exhausted: true }]) {
    const { released, blocked } = ruleOf(editorLines({ verdict }));
    expect([blocked, released]).toEqual([80, 0]);
  }
  // The score of a body that could not be parsed stays: five of ten.
  expect(ruleOf(editorLines({ score: 10, verdict: { uninspected: 'unparsable' } })).released).toBe(0);
});

test('items of lists are one target, and a name that is not logged is excluded by its collection', () => {
  const targets = (index: number) => [markup({ target: `ARGS:json.blocks.${index}.text` })];
  const people = (matches: (index: number) => ReturnType<typeof targets>) =>
    several(30, (index) => ({
      ...{ ip: `192.0.2.${index}`, at: NOON + (index % 5) * 3_600_000, fromPage: true },
      matches: matches(index),
    }));
  expect(ruleOf(people(targets)).groups).toMatchObject([
    { target: 'ARGS:json.blocks.*.text', exclusions: [{ exclusion: { target: 'ARGS:json.blocks.*.text' } }] },
  ]);
  const unnamed = () => [markup({ target: 'ARGS_NAMES:(35 octets)' })];
  expect(ruleOf(people(unnamed)).groups[0]!.exclusions[0]!.exclusion.target).toBe('ARGS_NAMES');
  const none = () => [markup({ target: 'TX:score' })];
  expect(ruleOf(people(none)).groups[0]).toMatchObject({ verdict: 'false_positive', exclusions: [] });
});

test('what exceeds a bound is counted', () => {
  const bounds = { cells: 10, visitors: 20, pairs: 30, kinds: 5 };
  const { exceeded, rules } = reportOf(editorLines(), { bounds });
  expect(rules[0]!.blocked).toBe(80);
  expect(exceeded.matches).toBe(70);
  expect(exceeded.visitors).toBe(120);
  expect(exceeded.kinds).toBeGreaterThan(0);
});
