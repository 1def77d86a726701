/** Every starter signature finds its examples and lets its look-alikes pass, through the compiler and the run time. */
import { describe, expect, test } from 'vitest';
import { type Example, exampleRequest, signatureFamilies } from '../support/signature-fixtures.ts';
import { inspectRequest, starter } from '../support/starter.ts';

const families = signatureFamilies();
const rules = new Map(
  starter()
    .program.levels.at(-1)!
    .rules.map((rule) => [rule.id, rule]),
);

function finds(id: number, example: Example): boolean {
  return inspectRequest(exampleRequest(example), rules.get(id)!.paranoia).ids.includes(id);
}

for (const { name, signatures } of families) {
  describe(name, () => {
    test.each(signatures.map((one) => [one.id, one] as const))('%d', (id, { hits, passes }) => {
      expect(rules.has(id)).toBe(true);
      expect(hits.length).toBeGreaterThanOrEqual(3);
      expect(passes.length).toBeGreaterThanOrEqual(3);
      expect(hits.filter((example) => !finds(id, example))).toEqual([]);
      expect(passes.filter((example) => finds(id, example))).toEqual([]);
    });
  });
}

describe('the starter set', () => {
  const reported = [...rules.values()].filter((rule) => rule.reported);

  test('has examples of every signature, and no others', () => {
    const shown = families.flatMap(({ signatures }) => signatures.map(({ id }) => id));
    expect(shown.sort((a, b) => a - b)).toEqual(reported.map(({ id }) => id).sort((a, b) => a - b));
  });

  test('has ids of the local range, and an attack, level and severity for each signature', () => {
    for (const rule of reported) {
      expect(rule.id).toBeLessThan(100_000);
      expect(rule.category).not.toBe('');
      expect(rule.message.length).toBe(1);
      expect([2, 3, 4, 5]).toContain(rule.severity);
      expect(rule.tags).toContain(`paranoia-level/${rule.paranoia}`);
    }
  });

  test('has no signature of a higher level at a level', () => {
    for (const [index, { rules: own }] of starter().program.levels.entries()) {
      const tagged = own.flatMap(({ id, tags }) => tags.map((tag) => ({ id, tag })));
      const higher = tagged.filter(
        ({ tag }) => Number(/^paranoia-level\/(\d)$/.exec(tag)?.[1] ?? 0) > index + 1,
      );
      expect(higher).toEqual([]);
    }
  });

  test('has all signatures of a level at the next level too', () => {
    const ids = starter().program.levels.map((level) => level.rules.map(({ id }) => id));
    for (const [index, lower] of ids.slice(0, -1).entries()) {
      expect(lower.filter((id) => !ids[index + 1]!.includes(id))).toEqual([]);
      expect(ids[index + 1]!.length).toBeGreaterThan(lower.length);
    }
  });

  test('adds the score of its severity', () => {
    const { score, ids } = inspectRequest(exampleRequest("1' union select null,null--"), 1);
    expect(ids).toContain(11300);
    expect(score % 5).toBe(0);
    expect(score).toBeGreaterThanOrEqual(5);
    expect(inspectRequest(exampleRequest({ in: 'path', value: '/production.log' }), 1).score).toBe(4);
  });
});
