/**
 * Parses the flags of `simulate` for conditions besides the request: clearances, counted requests, origins that are down, the clock.
 */
import { refText } from '../../engine/evaluator/identity.ts';
import { nearest } from '../../rules/model/nearest.ts';
import { planConditions, readCounted, type World } from '../../workbench/simulation/conditions.ts';
import { type RequestFlags, readTime, type Typed } from '../../workbench/simulation/request-line.ts';
import type { SimulationSubject } from '../../workbench/simulation/simulate.ts';
import { usageFault } from '../exit.ts';

/** The flags for conditions. */
export interface ConditionFlags extends Pick<RequestFlags, 'cleared' | 'at'> {
  /** `rate_limit/9=100` each. */
  readonly counted?: readonly string[];
  readonly originDown?: readonly string[];
  readonly nodeId?: number;
}

/** The value that was read. @throws CommandFault with exit code 2 and the reader's message */
export function orUsageFault<T>(typed: Typed<T>): T {
  if (!typed.ok) throw usageFault(typed.error);
  return typed.value;
}

/** The id of the rule that has this key. */
function idOfKey(subject: SimulationSubject, key: string): number | undefined {
  return [...subject.sources].find(([, source]) => source.key === key)?.[0];
}

/** Plans name rules by key if they have one: a typed id is replaced by the key. */
function refOfTyped(text: string, { ruleSet }: SimulationSubject): string {
  const keys = ruleSet?.keys;
  const [, type, id] = /^([a-z_]+)\/(\d+)$/.exec(text) ?? [];
  const key = (type === 'record' ? keys?.records : keys?.rules)?.get(Number(id));
  return key === undefined ? text : `${type}/${key}`;
}

/** Resolves `--cleared`. */
export function clearedRefs(
  flags: ConditionFlags,
  subject: SimulationSubject,
): Pick<RequestFlags, 'cleared'> {
  const cleared = flags.cleared?.map((text) => refOfTyped(text, subject));
  const odd = cleared?.find((ref) => !isKnownName(ref, subject));
  if (odd !== undefined) {
    throw usageFault(
      `\`${odd}\` is not a challenge of \`${subject.name}\``,
      'no rule or record has that name',
    );
  }
  return cleared === undefined ? {} : { cleared };
}

/**
 * Whether a rule or record of the subject has this name. A number is accepted as an id, since the rules of a sealed
 * plan are unknown.
 */
function isKnownName(ref: string, { ruleSet }: SimulationSubject): boolean {
  if (ruleSet?.keys === undefined || /\/\d+$/.test(ref)) return true;
  const { rules, records } = ruleSet.keys;
  const named = ruleSet.rules.map(({ type, id }) => `${type}/${rules.get(id) ?? id}`);
  return named.includes(ref) || [...records.values()].some((key) => ref === `record/${key}`);
}

/** Rate limits that a message lists. */
const LIMITS_LISTED = 5;

/** Resolves `--counted`. */
function countedRefs({ counted }: ConditionFlags, subject: SimulationSubject): Pick<World, 'counted'> {
  if (counted === undefined) return {};
  const known = planConditions(subject.bytes).limits.map(({ rule }) => refText(rule));
  const refs = [...orUsageFault(readCounted(counted))].map(([text, requests]) => {
    const ref = refOfTyped(text, subject);
    if (known.includes(ref)) return [ref, requests] as const;
    throw usageFault(`\`${text}\` is not a rate limit of \`${subject.name}\``, remedyAmong(known, ref));
  });
  return { counted: new Map(refs) };
}

/** What to write in place of a rate limit that the plan does not have. */
function remedyAmong(known: readonly string[], ref: string): string {
  if (known.length === 0) return 'the plan has no rate limit that is enabled';
  const closest = nearest(ref, known);
  if (closest !== null) return `did you mean ${closest}?`;
  const more = known.length > LIMITS_LISTED ? ', …' : '';
  return `its rate limits are ${known.slice(0, LIMITS_LISTED).join(', ')}${more}`;
}

/** Resolves `--origin-down`: `80/0`, or the pool's key in place of its id. */
function downOrigins(flags: ConditionFlags, subject: SimulationSubject): readonly string[] {
  return (flags.originDown ?? []).map((text) => {
    const parts = /^(.+)\/(\d+)$/.exec(text);
    if (parts === null) throw usageFault(`\`${text}\` is not an origin; write <pool>/<index> such as 80/0`);
    const [, pool = '', index = ''] = parts;
    const id = /^\d+$/.test(pool) ? Number(pool) : idOfKey(subject, pool);
    const rules = subject.ruleSet?.rules;
    const rule = rules?.find((one) => one.type === 'origin_pool' && one.id === id);
    if (id === undefined || (rules !== undefined && rule === undefined)) {
      throw usageFault(`there is no origin_pool \`${pool}\` in \`${subject.name}\``);
    }
    if (rule?.type === 'origin_pool' && Number(index) >= rule.origins.length) {
      throw usageFault(
        `origin_pool \`${pool}\` has ${rule.origins.length} origins, counted from 0; there is no ${index}`,
      );
    }
    return `${id}/${Number(index)}`;
  });
}

/** The conditions of the simulation. */
export function worldOf(flags: ConditionFlags, subject: SimulationSubject): World {
  const now = flags.at === undefined ? Date.now() : orUsageFault(readTime(flags.at));
  return {
    ...countedRefs(flags, subject),
    down: downOrigins(flags, subject),
    nodeId: flags.nodeId ?? null,
    now,
    nowGiven: flags.at !== undefined,
  };
}
