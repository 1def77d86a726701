/** What a value need not runTest by the kinds of its octets changes no answer. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { startMeter } from '../../../../../src/engine/waf/octets/meter.ts';
import { createExactSchedules, scheduleFor } from '../../../../../src/engine/waf/request/schedules.ts';
import type { ValueClass } from '../../../../../src/engine/waf/request/target-classes.ts';
import { inspect, signatures } from '../../../../support/signatures.ts';

/** Operators with their chains, and what they say of a value as it is sent. */
const ASKED: readonly (readonly [
  operator: string,
  chain: string,
  holds: (value: string, lower: string) => boolean,
])[] = [
  ['@rx ^[0-9]+$', '', (value) => /^[0-9]+$/.test(value)],
  ['!@rx ^[0-9]+$', '', (value) => !/^[0-9]+$/.test(value)],
  ['@rx [a-z]_[a-z]', '', (value) => /[a-z]_[a-z]/.test(value)],
  ['@rx a b', 't:lowercase', (_, lower) => lower.includes('a b')],
  ['@rx ab', 't:removeWhitespace', (value) => value.replaceAll(' ', '').includes('ab')],
  ['@rx a.*;', '', (value) => /a.*;/.test(value)],
  ['@pm ab b.a 12', '', (_, lower) => ['ab', 'b.a', '12'].some((one) => lower.includes(one))],
  ['!@pm ab', '', (_, lower) => !lower.includes('ab')],
  ['@pm a/b b', 't:normalizePath', (_, lower) => lower.includes('b')],
  ['@validateByteRange 48-57,97-122', '', (value) => /[^0-9a-z]/.test(value)],
  ['@validateUtf8Encoding', '', () => false],
  ['@detectXSS', '', () => false],
  ['@contains a:', '', (value) => value.includes('a:')],
  ['@streq ab', '', (value) => value === 'ab'],
  ['@endsWith 1;', '', (value) => value.endsWith('1;')],
  [
    "@rx ^..'$",
    't:base64Decode,multiMatch',
    (value) => /^..'$/.test(value) || /^..'$/s.test(Buffer.from(leading(value), 'base64').toString('latin1')),
  ],
];

/** What of a value is Base64. */
function leading(value: string): string {
  return /^[A-Za-z0-9+/]*/.exec(value)![0];
}

const PROGRAM = signatures(
  ASKED.map(
    ([operator, chain], at) =>
      `SecRule ARGS:v "${operator}" "id:${at + 1},phase:2,block,t:none,${chain === '' ? '' : `${chain},`}msg:'found',setvar:'tx.inbound_anomaly_score_pl1=+1'"`,
  ).join('\n'),
);

const VALUES = fc.oneof(
  ...['12', 'ab_1', 'aAbB_1', 'ab1_.-', 'abAB1_.- ', 'abAB1 .,:/', "ab1;'!(", 'ab1;: /.', 'abn1', "'a1;"].map(
    (alphabet) =>
      fc
        .array(fc.constantFrom(...alphabet), { minLength: 1, maxLength: 8 })
        .map((characters) => characters.join(''))
        .filter((value) => !/^\.|\.\.|\/\.|\.\/|\/\//.test(value)),
  ),
);

/** One value or more for each operator that some value hits, so that no run depends on its seed for that. */
const EXAMPLES = ['12', 'a_b', 'a b', 'ab', 'a;1;', 'a:', "ab'", 'b.a'];

test('an operator matches the same values when untouched transformations are skipped', () => {
  const seen = new Set<number>();
  fc.assert(
    fc.property(VALUES, (value) => {
      const expected = ASKED.flatMap(([, , holds], at) =>
        holds(value, value.toLowerCase()) ? [at + 1] : [],
      );
      const target = `/?v=${encodeURIComponent(value)}&v=${encodeURIComponent(value)}`;
      const { ids } = inspect(PROGRAM, { target });
      for (const id of ids) seen.add(id);
      expect(ids).toEqual(expected);
    }),
    { numRuns: 1_500, examples: EXAMPLES.map((value) => [value]) },
  );
  expect(seen.size).toBe(14);
});

test('multiMatch tests a stage between two stages with the same text', () => {
  const program = signatures(
    `SecRule ARGS:v "@rx ^ab$" "id:1,phase:2,block,t:none,t:lowercase,t:uppercase,multiMatch,msg:'found',setvar:'tx.inbound_anomaly_score_pl1=+1'"`,
  );
  expect(inspect(program, { target: '/?v=AB' }).ids).toEqual([1]);
  expect(inspect(program, { target: '/?v=AC' }).ids).toEqual([]);
});

test('the steps that schedules cost an inspection do not depend on earlier inspections', () => {
  const source = { chains: [], words: 0, setKinds: [], setDemands: [] };
  const classes = [0, 1, 2].map(
    (number): ValueClass => ({ number, chained: [], schedules: [], dear: [], source }),
  );
  const asked = fc.record({
    group: fc.constantFrom(...classes),
    shape: fc.integer(),
    text: fc.string({ maxLength: 30 }),
  });
  const used = createExactSchedules();
  let most = 0;
  fc.assert(
    fc.property(fc.array(asked, { minLength: 1, maxLength: 200 }), (values) => {
      const costOf = (exact: typeof used): number => {
        const meter = startMeter(1e9);
        for (const { group, ...value } of [...values, ...values]) scheduleFor(group, value, { exact, meter });
        return 1e9 - meter.left;
      };
      const cost = costOf(createExactSchedules());
      expect(costOf(used)).toBe(cost);
      most = Math.max(most, cost);
    }),
  );
  expect(most).toBeGreaterThan(0);
});
