/** The journal's format: reading is the inverse of writing, also of files that are truncated or damaged. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  type JournaledPlan,
  type JournalLine,
  lineText,
  readLines,
} from '../../../../src/edge/following/journal.ts';

const secret = fc
  .uint8Array({ minLength: 32, maxLength: 32 })
  .map((octets) => Buffer.from(octets).toString('base64'));
const clearance = fc.record({
  current: secret,
  previous: fc.array(fc.record({ secret, until: fc.nat() }), { maxLength: 2 }),
});
const plan = fc.record({
  revision: fc.nat(),
  digest: fc.option(fc.stringMatching(/^[0-9a-f]{64}$/)),
  previous: fc.option(fc.record({ revision: fc.nat(), digest: fc.stringMatching(/^[0-9a-f]{64}$/) })),
  purgeEpoch: fc.nat(),
  keyId: fc.stringMatching(/^[0-9a-f]{16}$/),
  clearance: fc.option(clearance),
  purges: fc.option(fc.record({ through: fc.nat(), digest: fc.stringMatching(/^[0-9a-f]{64}$/) })),
});
const line = fc.oneof(
  fc.record({
    kind: fc.constant('name' as const),
    name: fc.constantFrom('a.test', 'b.test', 'xn--c-1ga.test'),
    plan: fc.option(
      plan.map((one): JournaledPlan => ({ ...one, tombstone: one.digest === null ? 'refused' : null })),
    ),
  }),
  fc.record({ kind: fc.constant('position' as const), position: fc.nat() }),
);

/** The names and the position after the lines. */
function fold(lines: readonly JournalLine[]): {
  readonly names: ReadonlyMap<string, JournaledPlan>;
  readonly position: number;
} {
  const names = new Map<string, JournaledPlan>();
  let position = 0;
  for (const one of lines) {
    if (one.kind === 'position') position = one.position;
    else if (one.plan === null) names.delete(one.name);
    else names.set(one.name, one.plan);
  }
  return { names, position };
}

test('a journal that is truncated anywhere yields exactly its whole lines', () => {
  fc.assert(
    fc.property(fc.array(line), fc.nat(), (lines, cut) => {
      const texts = lines.map(lineText);
      const bytes = Buffer.from(texts.join(''));
      const at = bytes.length === 0 ? 0 : cut % (bytes.length + 1);
      const read = readLines(bytes.subarray(0, at), 10);
      let whole = 0;
      for (let end = 0; whole < texts.length && end + texts[whole]!.length <= at; whole++)
        end += texts[whole]!.length;
      const expected = fold(lines.slice(0, whole));
      expect([read.names, read.position, read.lines]).toEqual([expected.names, expected.position, whole]);
      const length = texts.slice(0, whole).join('').length;
      expect(read.damaged).toBe(at > length ? 1 : 0);
    }),
  );
});

test('one changed octet damages at most its line and the next', () => {
  fc.assert(
    fc.property(
      fc.array(line, { minLength: 1 }),
      fc.nat(),
      fc.integer({ min: 1, max: 255 }),
      (lines, at, change) => {
        const bytes = Buffer.from(lines.map(lineText).join(''));
        bytes[at % bytes.length]! ^= change;
        const { damaged, lines: good } = readLines(bytes, 10);
        // A changed newline joins two lines; an octet that becomes a newline splits one.
        expect(damaged).toBeGreaterThanOrEqual(1);
        expect(good).toBeGreaterThanOrEqual(lines.length - 2);
      },
    ),
  );
});

test('reading returns the names of the last lines, the newest last', () => {
  const lines = Array.from(
    { length: 95 },
    (_, index): JournalLine => ({ kind: 'name', name: `n${index}.test`, plan: null }),
  );
  const { recent } = readLines(Buffer.from(lines.map(lineText).join('')), 10);
  expect(recent).toEqual(lines.slice(-10).map((one) => (one.kind === 'name' ? one.name : '')));
});
