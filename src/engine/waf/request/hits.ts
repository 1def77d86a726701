/**
 * Hits: which members of a request passed which tests. A rule inspects only these members, since of thousands of
 * arguments hardly any passes a test.
 */
import type { WafTarget, WafTargets } from '../../plan/signature-program.ts';
import type { Matcher } from '../patterns/pattern.ts';
import type { RequestMember } from './gather.ts';
import type { NamedValue } from './named-value.ts';
import type { CompiledSource } from './rule-set.ts';
import { selects } from './target-classes.ts';

/** The hits of one inspection. */
export interface Hits {
  /** By test, the members that passed it, in the order of the request (`memberNumber`); absent: none. */
  readonly byTest: (number[] | undefined)[];
  /** By value source, its members; absent: its phase has not begun. */
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
