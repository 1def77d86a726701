/** Prepares tests to run: resolves names to ids and expectations to partial decisions. */
import type { Diagnostic, SourcePlace } from '../../base/diagnostics/diagnostic.ts';
import type { EdgeRequest } from '../../engine/evaluator/request.ts';
import type { RuleTest } from '../../rules/files/test-file.ts';
import type { TestStep } from '../../rules/files/test-file-step.ts';
import { createNotes, foundIn, type Notes, type ScalarItem } from '../../rules/files/test-file-values.ts';
import { nearest } from '../../rules/model/nearest.ts';
import type { OriginPoolRule, PoolOrigin, RuleSet } from '../../rules/model/types.ts';
import { type Expectation, readExpectation } from './expectation.ts';
import type { RuleNames } from './names.ts';

/** 2026-01-01T00:00:00Z: the clock of a test without `at`. */
export const DEFAULT_NOW = Date.UTC(2026, 0, 1);

/** A step that can be sent. */
export interface ReadyStep {
  readonly name: string | null;
  readonly line: string;
  readonly at: SourcePlace;
  /** Without `now`, which the run sets. */
  readonly request: EdgeRequest;
  /** The step's own time in milliseconds since the epoch; `null`: the clock continues. */
  readonly now: number | null;
  /** Milliseconds by which the clock advances before the step. */
  readonly afterMs: number;
  readonly times: number;
  /** Milliseconds between two requests of the step. */
  readonly everyMs: number;
  readonly expect: Expectation | null;
  /** The expectation of all requests but the last. */
  readonly earlier: Expectation | null;
  readonly would: Expectation | null;
  readonly response: TestStep['response'];
  readonly origins: OriginStatesOf;
}

/** The state of pool origins during a step. */
interface OriginStatesOf {
  /** Origins that are down, as `<pool id>/<index>`. */
  readonly down: ReadonlySet<string>;
  /** Open requests by `<pool id>/<index>`. */
  readonly busy: ReadonlyMap<string, number>;
}

/** A test that can run. */
export interface ReadyTest {
  readonly name: string;
  readonly at: SourcePlace;
  /** The id of the edge node; `null`: not given. */
  readonly node: number | null;
  readonly steps: readonly ReadyStep[];
}

/** The result of preparing. */
export interface Prepared {
  readonly tests: readonly ReadyTest[];
  /** Mistakes in names and expectations. */
  readonly diagnostics: readonly Diagnostic[];
}

/** Resolves tests against the rules that they test. */
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

/** What resolving needs. */
interface Context {
  readonly names: RuleNames;
  readonly notes: Notes;
  readonly pools: readonly OriginPoolRule[];
}

/** Resolves one step. */
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

/** Resolves the name of a solved challenge. */
function clearance(item: ScalarItem, { names, notes }: Context): string | null {
  const named = names.find(String(item.value));
  if (named.ok) return names.textOf(named.ref);
  return notes.complain(item, { code: 'unknown_rule', message: named.message, remedy: named.remedy });
}

/** The pool origins with an address, `10.0.4.9` or `10.0.4.9:8443`, in every pool. */
function originsAt(item: ScalarItem, { pools, notes }: Context): readonly string[] {
  const address = String(item.value);
  const found = pools.flatMap((pool) =>
    pool.origins.flatMap((origin, index) =>
      spellings(origin).includes(address) ? [`${pool.id}/${index}`] : [],
    ),
  );
  if (found.length > 0) return found;
  const known = [...new Set(pools.flatMap((pool) => pool.origins.map((origin) => origin.address)))];
  const closest = nearest(address, known);
  const list = known.map((address) => `\`${address}\``).join(', ');
  const remedy =
    known.length === 0
      ? 'the edge file has no pool'
      : closest === null
        ? `write one of ${list}`
        : `write \`${closest}\``;
  notes.complain(item, {
    code: 'unknown_origin',
    message: 'is not the address of a pool origin',
    found: foundIn(item),
    remedy,
  });
  return [];
}

/** The forms in which a test may write an origin. */
function spellings({ address, port, scheme }: PoolOrigin): readonly string[] {
  const host = address.includes(':') ? `[${address}]` : address;
  return [address, `${host}:${port ?? (scheme === 'https' ? 443 : 80)}`];
}
