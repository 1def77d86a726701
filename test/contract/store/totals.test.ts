/** The stored totals of a domain's rules equal a count from scratch, whatever was written before, on both databases. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { PatternCosts } from '../../../src/control/store/repositories/rule-costs.ts';
import type { RuleWrite } from '../../../src/control/store/repositories/rules.ts';
import type { Store, WriteTransaction } from '../../../src/control/store/store.ts';
import type { PatternRow, RuleCosts, RuleRow } from '../../../src/control/store/tables/rules.ts';
import { newRule, seed, T } from '../../support/sample-rows.ts';
import { kinds, openForAll } from './databases.ts';

/** So few that rules share them. */
const PATTERNS: readonly PatternRow[] = ['', '2f00', '2f006100', '2f006100'].map((prefix, index) => ({
  digest: `p${index}`,
  octets: 10 ** index,
  build: 3 * 10 ** index,
  eighths: 7 * 10 ** index,
  prefix,
}));

type Costs = NonNullable<RuleWrite['costs']>;

/** A rule as the test remembers it. */
interface Known {
  readonly row: RuleRow;
  readonly content: string | null;
  readonly costs: Costs;
}

interface Step {
  readonly kind: 'insert' | 'update' | 'rescope' | 'prioritise' | 'remove' | 'undone';
  readonly at: number;
  readonly type: 'drop' | 'error_page' | 'waf';
  readonly body: string;
  readonly content: string | null | undefined;
  readonly costs: Costs | undefined;
}

const steps: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.record({
    kind: fc.constantFrom('insert', 'insert', 'update', 'rescope', 'prioritise', 'remove', 'undone'),
    at: fc.nat(50),
    type: fc.constantFrom('drop', 'error_page', 'waf'),
    body: fc.constantFrom('{}', '{"a":"é"}', '{"long":"0123456789"}'),
    content: fc.constantFrom(null, '{"0":"ü"}', undefined),
    costs: fc.option(fc.record({ addresses: fc.nat(9), patterns: fc.subarray([...PATTERNS]) }), {
      nil: undefined,
    }),
  }),
  { minLength: 5, maxLength: 25 },
);

function toWrite({ body, content, costs }: Step): RuleWrite {
  return {
    priority: 100,
    body,
    record_ids: [],
    ...(content === undefined ? {} : { content }),
    ...(costs === undefined ? {} : { costs }),
  };
}

/** Runs one step on the store and on what the test remembers. */
async function run(tx: WriteTransaction, domainId: number, known: Known[], step: Step): Promise<void> {
  const at = step.at % (known.length + 1);
  const rule = known[at];
  if (step.kind === 'insert' || rule === undefined) {
    const row = await tx.rules.insert(newRule(domainId, { ...toWrite(step), type: step.type }));
    const costs = step.costs ?? { addresses: 0, patterns: [] };
    known.push({ row, content: step.content ?? null, costs });
    return;
  }
  const { id, type } = rule.row;
  const key = { domain_id: domainId, type, id };
  switch (step.kind) {
    case 'update': {
      const row = (await tx.rules.update(key, { ...toWrite(step), updated_at: T }))!;
      const content = step.content === undefined ? rule.content : step.content;
      known[at] = { row, content, costs: step.costs ?? rule.costs };
      return;
    }
    case 'rescope': {
      const changed = known.slice(at).map(({ row }) => ({ id: row.id, body: step.body, record_ids: [7] }));
      await tx.rules.rescope(domainId, changed, T);
      for (let index = at; index < known.length; index++) {
        const one = known[index]!;
        known[index] = { ...one, row: { ...one.row, body: step.body } };
      }
      return;
    }
    case 'prioritise':
      return tx.rules.prioritise(domainId, [{ id, priority: step.at }], T);
    case 'remove':
      expect(await tx.rules.remove({ ...key, type: type === 'waf' ? 'drop' : 'waf' })).toBe(false);
      expect(await tx.rules.remove(key)).toBe(true);
      known.splice(at, 1);
      return;
    case 'undone':
      await tx
        .attempt(async () => {
          await tx.rules.update(key, { ...toWrite(step), updated_at: T });
          await tx.rules.remove(key);
          throw UNDONE;
        })
        .catch((error: unknown) => {
          if (error !== UNDONE) throw error;
        });
  }
}

const UNDONE = new Error('undone');

function recount(known: readonly Known[]): RuleCosts[] {
  const totals = new Map<string, RuleCosts>();
  for (const { row, content, costs } of known) {
    const before = totals.get(row.type) ?? { type: row.type, rules: 0, octets: 0, addresses: 0 };
    totals.set(row.type, {
      type: row.type,
      rules: before.rules + 1,
      octets: before.octets + Buffer.byteLength(row.body) + Buffer.byteLength(content ?? ''),
      addresses: before.addresses + costs.addresses,
    });
  }
  return [...totals.values()].sort((a, b) => (a.type < b.type ? -1 : 1));
}

function patternsOf(known: readonly Known[]): readonly PatternRow[] {
  return [...new Set(known.flatMap(({ costs }) => costs.patterns))];
}

function recountPatterns(known: readonly Known[]): PatternCosts {
  const costs = { octets: 0, build: 0, eighths: 0 };
  for (const { octets, build, eighths } of patternsOf(known)) {
    costs.octets += octets;
    costs.build += build;
    costs.eighths += eighths;
  }
  return { ...costs, counted: true };
}

describe.each(kinds)('$name', (kind) => {
  let store: Store;
  let made = 0;
  openForAll(kind, (opened) => {
    ({ store } = opened);
  });

  test('the totals are those of the rules that are there', async () => {
    await fc.assert(
      fc.asyncProperty(steps, async (all) => {
        made += 1;
        const { domain } = await store.write((tx) => seed(tx, `d${made}.example`));
        const known: Known[] = [];
        for (const step of all) await store.write((tx) => run(tx, domain.id, known, step));
        const { rules } = store.latest;
        expect(await rules.totals(domain.id)).toEqual(recount(known));
        expect(await rules.count(domain.id, 'drop')).toBe(
          known.filter(({ row }) => row.type === 'drop').length,
        );
        expect(await rules.patternCosts(domain.id, { without: 0 })).toEqual(recountPatterns(known));
        for (const { row } of known) {
          const others = known.filter((one) => one.row.id !== row.id);
          expect(await rules.patternCosts(domain.id, { without: row.id })).toEqual(recountPatterns(others));
        }
        expect(await store.write((tx) => tx.domains.remove(domain.id))).toBe(true);
        expect(await rules.totals(domain.id)).toEqual([]);
      }),
      { numRuns: 25 },
    );
  });

  test('patterns on one chain of prefixes are found, and those that others have', async () => {
    made += 1;
    const { domain } = await store.write((tx) => seed(tx, `d${made}.example`));
    const long = '61006200'.repeat(100);
    const prefixes = ['', '2f00', '2f006100', '2f006200', '61006200', long, `${long}6300`, `${long}6400`];
    const ids: number[] = [];
    for (const [index, prefix] of prefixes.entries()) {
      const pattern = { digest: `p${index}`, octets: 1, build: 1, eighths: 8, prefix };
      const costs = { addresses: 0, patterns: [pattern] };
      ids.push((await store.write((tx) => tx.rules.insert(newRule(domain.id, { costs })))).id);
    }
    const near = async (wanted: readonly string[], without = 0) =>
      (await store.latest.rules.patternsNear(domain.id, { prefixes: wanted, without }))
        .map(({ digest }) => digest)
        .sort();
    expect(await near(['2f006100'])).toEqual(['p0', 'p1', 'p2']);
    expect(await near(['2f00'])).toEqual(['p0', 'p1', 'p2', 'p3']);
    expect(await near(['2f00'], ids[2])).toEqual(['p0', 'p1', 'p3']);
    expect(await near([''])).toHaveLength(prefixes.length);
    expect(await near(['7a00'])).toEqual(['p0']);
    expect(await near([`${long}6300`])).toEqual(['p0', 'p4', 'p5', 'p6', 'p7']);
    expect(await near([])).toEqual([]);
    expect(await store.latest.rules.patternsNear(domain.id + 1, { prefixes: [''], without: 0 })).toEqual([]);
    const digests = ['p1', 'p2', 'none'];
    expect(await store.latest.rules.filedPatterns(domain.id, { digests, without: ids[1]! })).toEqual(
      new Set(['p2']),
    );
  });
});
