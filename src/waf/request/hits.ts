/**
 * Which members of a request passed which tests. A rule looks at those alone: of a list of thousands hardly any member
 * concerns it.
 */
import type { WafTarget, WafTargets } from '../../plan/signature-program.ts';
import type { Matcher } from '../patterns/pattern.ts';
import type { RequestMember } from './gather.ts';
import type { CompiledSource } from './rule-set.ts';
import { selects } from './target-classes.ts';
import type { NamedValue } from './variables/headers.ts';

export interface Hits {
  /** By test, the members that passed it in the request's order (`memberNumber`); absent: none did. */
  readonly byTest: (number[] | undefined)[];
  /** By source, its members; absent: not known yet. */
  readonly members: (readonly NamedValue[] | undefined)[];
}

export function createHits(): Hits {
  return { byTest: [], members: [] };
}

/** More than an source has members: each takes two octets, and a body is inspected up to 1 MiB (`MAX_BODY_CAP_KB`). */
const SOURCE_SPAN = 1 << 21;

/** The number that stands for a member: its source's place, and its own among that one's members. */
export function memberNumber(source: number, place: number): number {
  return source * SOURCE_SPAN + place;
}

/** Notes that a member passed a test; it may do so at several stages of its transformations. */
export function noteHit({ byTest }: Hits, test: number, member: number): void {
  const passed = byTest[test];
  if (passed === undefined) byTest[test] = [member];
  else if (passed[passed.length - 1] !== member) passed.push(member);
}

/** The members that passed a test, as a list of targets names them and in its order. */
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
    const takes = (name: string): boolean =>
      selects(target, name, matchers) && !excluded.some((one: WafTarget) => selects(one, name, matchers));
    for (const number of hits.byTest[test] ?? []) {
      const place = Math.floor(number / SOURCE_SPAN);
      const { source } = sources[place]!;
      if (!source.variables.includes(variable)) continue;
      const { name, value } = hits.members[place]![number % SOURCE_SPAN]!;
      if (!takes(name)) continue;
      const display = source.isScalar ? variable : `${variable}:${name}`;
      found.push({ variable, name, display, text: source.names ? name : value });
    }
  }
  return found;
}
