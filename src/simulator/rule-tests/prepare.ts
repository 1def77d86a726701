/** From tests as they are written to tests that can run: names become ids, expectations become partial decisions. */
import type { Diagnostic, SourcePlace } from '../../base/diagnostic.ts';
import type { EdgeRequest } from '../../evaluator/request.ts';
import type { RuleTest } from '../../files/test-file.ts';
import { createNotes, foundIn, type Notes } from '../../files/test-file-notes.ts';
import type { TestStep } from '../../files/test-file-step.ts';
import type { ScalarItem } from '../../files/test-file-yaml.ts';
import { nearest } from '../../model/nearest.ts';
import type { OriginPoolRule, PoolOrigin, RuleSet } from '../../model/types.ts';
import { type Expectation, readExpectation } from './expectation.ts';
import type { RuleNames } from './names.ts';

/** 2026-01-01T00:00:00Z: the clock of a test that does not say. */
export const DEFAULT_NOW = Date.UTC(2026, 0, 1);

export interface ReadyStep {
  readonly name: string | null;
  readonly line: string;
  readonly at: SourcePlace;
  /** Without `now`, which the run sets. */
  readonly request: EdgeRequest;
  /** Milliseconds since the epoch, where the step says so itself. */
  readonly now: number | null;
  readonly afterMs: number;
  readonly times: number;
  readonly everyMs: number;
  readonly expect: Expectation | null;
  readonly earlier: Expectation | null;
  readonly would: Expectation | null;
  readonly response: TestStep['response'];
  readonly origins: OriginStatesOf;
}

interface OriginStatesOf {
  /** `<pool id>/<index>`. */
  readonly down: ReadonlySet<string>;
  readonly busy: ReadonlyMap<string, number>;
}

export interface ReadyTest {
  readonly name: string;
  readonly at: SourcePlace;
  readonly node: number | null;
  readonly steps: readonly ReadyStep[];
}

export interface Prepared {
  readonly tests: readonly ReadyTest[];
  /** Mistakes in what the tests expect or name. */
  readonly diagnostics: readonly Diagnostic[];
}

/** Settles what tests mean against the rules they are about. */
export function prepareTests(
  tests: readonly RuleTest[],
  { ruleSet, names }: { readonly ruleSet: RuleSet; readonly names: RuleNames },
): Prepared {
  const notes = createNotes();
  const context = { names, notes, pools: ruleSet.rules.filter((rule) => rule.type === 'origin_pool') };
  const ready = tests.map((test) => ({
    name: test.name,
    at: test.at,
    node: test.steps[0]?.world.node ?? null,
    steps: test.steps.map((step) => readyStep(step, context)),
  }));
  return { tests: ready, diagnostics: notes.diagnostics };
}

interface Context {
  readonly names: RuleNames;
  readonly notes: Notes;
  readonly pools: readonly OriginPoolRule[];
}

function readyStep(step: TestStep, context: Context): ReadyStep {
  const { world, response } = step;
  const { names, notes } = context;
  const about = response === null ? 'decision' : 'page';
  const read = (item: TestStep['expect'], shadow: boolean): Expectation | null =>
    item === null ? null : readExpectation(item, { names, notes, about, shadow });
  const cleared = world.cleared.flatMap((item) => clearance(item, context) ?? []);
  const down = world.down.flatMap((address) => originsAt(address, context));
  const busy = world.busy.flatMap(({ address, count }) =>
    originsAt(address, context).map((origin) => [origin, count] as const),
  );
  return {
    name: step.name,
    line: step.line,
    at: step.at,
    request: { ...step.request, ...(cleared.length === 0 ? {} : { cleared }) },
    now: world.now,
    afterMs: step.afterMs,
    times: step.times,
    everyMs: step.everyMs,
    expect: read(step.expect, false),
    earlier: read(step.earlier, false),
    would: read(step.would, true),
    response,
    origins: { down: new Set(down), busy: new Map(busy) },
  };
}

function clearance(item: ScalarItem, { names, notes }: Context): string | null {
  const named = names.find(String(item.value));
  if (named.ok) return names.textOf(named.ref);
  return notes.complain(item, { code: 'unknown_rule', message: named.message, remedy: named.remedy });
}

/** The pool origins of an address, `10.0.4.9` or `10.0.4.9:8443`, in every pool that has it. */
function originsAt(item: ScalarItem, { pools, notes }: Context): readonly string[] {
  const wanted = String(item.value);
  const found = pools.flatMap((pool) =>
    pool.origins.flatMap((origin, index) =>
      spellings(origin).includes(wanted) ? [`${pool.id}/${index}`] : [],
    ),
  );
  if (found.length > 0) return found;
  const known = [...new Set(pools.flatMap((pool) => pool.origins.map((origin) => origin.address)))];
  const meant = nearest(wanted, known);
  const list = known.map((address) => `\`${address}\``).join(', ');
  const remedy =
    known.length === 0
      ? 'the edge file has no pool'
      : meant === null
        ? `write one of ${list}`
        : `write \`${meant}\``;
  notes.complain(item, {
    code: 'unknown_origin',
    message: 'is the address of no pool origin',
    found: foundIn(item),
    remedy,
  });
  return [];
}

function spellings({ address, port, scheme }: PoolOrigin): readonly string[] {
  const host = address.includes(':') ? `[${address}]` : address;
  return [address, `${host}:${port ?? (scheme === 'https' ? 443 : 80)}`];
}
