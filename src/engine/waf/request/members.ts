/** The members of a request: gathers those that a list of targets selects, and records which of them passed which tests. */
import type { WafTarget, WafTargets, WafVariable } from '../../plan/signature-program.ts';
import type { Matcher } from '../patterns/pattern.ts';
import type { NamedValue } from './bodies/parsed-body.ts';
import type { CompiledSource } from './rule-set.ts';
import { selects } from './target-classes.ts';
import { isScalar, membersOf, scalarOf, type Transaction } from './transaction.ts';
import { readTx, selectedTx } from './tx.ts';

/** One member of a request. */
export interface RequestMember {
  readonly variable: WafVariable;
  /** Its name within the collection; `''` for a scalar. */
  readonly name: string;
  /** Its name in reports and MATCHED_VAR_NAME: `ARGS:id`, `&ARGS`, `REQUEST_URI`. */
  readonly display: string;
  /** Its value, Latin-1. */
  readonly text: string;
}

/** Gathers the members; a target with `count` becomes one member whose value is the number. */
export function gather(
  targets: WafTargets,
  transaction: Transaction,
  matchers: readonly Matcher[],
): readonly RequestMember[] {
  const found: RequestMember[] = [];
  for (const target of targets.include) {
    const { variable } = target;
    const all = membersOfTarget(target, transaction, matchers);
    const members = targets.exclude.length === 0 ? all : withoutExcluded(all, targets.exclude, matchers);
    if (target.count) {
      const { selector } = target;
      const name = selector.kind === 'name' ? selector.name : '';
      const display = name === '' ? `&${variable}` : `&${variable}:${name}`;
      found.push({ variable, name, display, text: String(members.length) });
    } else found.push(...members);
  }
  return found;
}

function withoutExcluded(
  members: readonly RequestMember[],
  excluded: readonly WafTarget[],
  matchers: readonly Matcher[],
): readonly RequestMember[] {
  return members.filter(
    ({ variable, name }) =>
      !excluded.some((one) => one.variable === variable && selects(one, name, matchers)),
  );
}

function membersOfTarget(
  target: WafTarget,
  transaction: Transaction,
  matchers: readonly Matcher[],
): readonly RequestMember[] {
  const { variable, selector } = target;
  if (isScalar(variable)) {
    const text = scalarOf(transaction, variable);
    return text === null ? [] : [{ variable, name: '', display: variable, text }];
  }
  if (variable === 'TX' && selector.kind === 'name') {
    const text = readTx(transaction.tx, selector.name);
    return text === null ? [] : [{ variable, name: selector.name, display: `TX:${selector.name}`, text }];
  }
  if (variable === 'TX' && selector.kind === 'pattern') {
    const chosen = selectedTx(transaction.tx, selector.pattern, (name) => selects(target, name, matchers));
    return chosen.map(({ name, value }) => ({ variable, name, display: `TX:${name}`, text: value }));
  }
  const found: RequestMember[] = [];
  for (const { name, value } of membersOf(transaction, variable)) {
    if (!selects(target, name, matchers)) continue;
    found.push({ variable, name, display: `${variable}:${name}`, text: value });
  }
  return found;
}

// Hits: which members of a request passed which tests. A rule inspects only these members, since of thousands of
// arguments hardly any passes a test.

/** The hits of one inspection. */
export interface Hits {
  /** By test, the members that passed it, in the order of the request (`memberNumber`); absent: none. */
  readonly byTest: (number[] | undefined)[];
  /** By value source, its members; absent: it has none, or its phase has not begun. */
  readonly members: (readonly NamedValue[] | undefined)[];
}

/** Creates the hits of a new inspection. */
export function createHits(): Hits {
  return { byTest: [], members: [] };
}

/** More than a source can have members: each takes two octets of a body of at most 1 MiB (`MAX_BODY_CAP_KB`). */
const SOURCE_SPAN = 1 << 21;

/** Encodes a member as one number: the place of its source, and its own place among the source's members. */
export function memberNumber(source: number, place: number): number {
  return source * SOURCE_SPAN + place;
}

/** Adds a hit, once even if the member passes the test at several stages of its transformations. */
export function addHit({ byTest }: Hits, test: number, member: number): void {
  const passed = byTest[test];
  if (passed === undefined) byTest[test] = [member];
  else if (passed[passed.length - 1] !== member) passed.push(member);
}

/** Returns the members with a hit of a test that a list of targets selects, in the order of the list. */
export function matchingMembers(
  hits: Hits,
  test: number,
  from: {
    readonly targets: WafTargets;
    readonly sources: readonly CompiledSource[];
    readonly matchers: readonly Matcher[];
  },
): readonly RequestMember[] {
  const found: RequestMember[] = [];
  const { targets, sources, matchers } = from;
  for (const target of targets.include) {
    const { variable } = target;
    const excluded = targets.exclude.filter((one) => one.variable === variable);
    const isTarget = (name: string): boolean =>
      selects(target, name, matchers) && !excluded.some((one: WafTarget) => selects(one, name, matchers));
    for (const number of hits.byTest[test] ?? []) {
      const place = Math.floor(number / SOURCE_SPAN);
      const { source } = sources[place]!;
      if (!source.variables.includes(variable)) continue;
      const { name, value } = hits.members[place]![number % SOURCE_SPAN]!;
      if (!isTarget(name)) continue;
      const display = source.isScalar ? variable : `${variable}:${name}`;
      found.push({ variable, name, display, text: source.names ? name : value });
    }
  }
  return found;
}
