/**
 * What may be assumed of a plan besides the request: which challenges it has, which rate limits, which origins of pools. In: a sealed
 * plan. Out: their names, as `simulate` takes them.
 */
import { BREACH_ACTIONS, FINGERPRINT_ACTIONS, type RuleType } from '../../base/vocabulary/vocabulary.ts';
import type { RuleRef } from '../../engine/evaluator/decision.ts';
import { type PoolSettings, readEdgeSettings } from '../../engine/evaluator/edge-settings.ts';
import { refOfRecord, refOfSlot } from '../../engine/evaluator/identity.ts';
import { createLoaded, type LoadedPlan } from '../../engine/evaluator/loaded.ts';
import {
  FLAG,
  FLAG_ACTION_SHIFT,
  GROUP,
  META,
  RATE_FIELDS,
  SLOT,
  typeIndex,
} from '../../engine/plan/layout.ts';
import { openPlan } from '../../engine/plan/seal.ts';

/** A rate limit of a plan. */
export interface LimitCondition {
  readonly rule: RuleRef;
  /** Requests that it lets through in a window: `limit` and `burst`. */
  readonly requests: number;
  readonly windowSec: number;
}

/** What a plan has that a simulation may set; rules that are disabled are left out. */
export interface PlanConditions {
  /** Rules and records that challenge. */
  readonly challenges: readonly RuleRef[];
  readonly limits: readonly LimitCondition[];
  readonly pools: readonly PoolSettings[];
}

/** Reads the conditions. @throws PlanFault when the bytes are not a plan */
export function planConditions(bytes: Uint8Array): PlanConditions {
  const { plan, revision } = openPlan(bytes);
  const loaded = createLoaded(plan, revision);
  const limits = slotsOf(loaded, 'rate_limit');
  const asking = [
    ...slotsOf(loaded, 'fingerprint').filter(
      (slot) => FINGERPRINT_ACTIONS[actionOf(loaded, slot)] === 'challenge',
    ),
    ...limits.filter((slot) => BREACH_ACTIONS[actionOf(loaded, slot)] === 'captcha'),
    ...slotsOf(loaded, 'captcha'),
  ];
  return {
    challenges: [
      ...asking.map((slot) => refOfSlot(loaded, slot)),
      ...challengingRecords(loaded).map((id) => refOfRecord(loaded, id)),
    ],
    limits: limits.map((slot) => limitOf(loaded, slot)),
    pools: readEdgeSettings(loaded).pools,
  };
}

/** The slots of a type's enabled rules. */
function slotsOf({ plan: { meta, slots } }: LoadedPlan, type: RuleType): readonly number[] {
  const phase = META.phases + typeIndex(type);
  const [first = 0, end = 0] = [meta[phase], meta[phase + 1]];
  return Array.from({ length: end - first }, (_, index) => first + index).filter(
    (slot) => (slots[slot * SLOT.size + SLOT.flags]! & FLAG.enabled) !== 0,
  );
}

function actionOf({ plan: { slots } }: LoadedPlan, slot: number): number {
  return slots[slot * SLOT.size + SLOT.flags]! >>> FLAG_ACTION_SHIFT;
}

function limitOf(loaded: LoadedPlan, slot: number): LimitCondition {
  const { slots, words } = loaded.plan;
  const fields = slots[slot * SLOT.size + SLOT.fields]!;
  return {
    rule: refOfSlot(loaded, slot),
    requests: words[fields + RATE_FIELDS.limit]! + words[fields + RATE_FIELDS.burst]!,
    windowSec: words[fields + RATE_FIELDS.window]!,
  };
}

/** The ids of the records that challenge for their hosts, ascending. */
function challengingRecords({ plan: { meta, words } }: LoadedPlan): readonly number[] {
  const ids = new Set<number>();
  for (let group = 0; group < meta[META.groupCount]!; group++) {
    const id = words[words[meta[META.groups]! + group]! + GROUP.captcha]!;
    if (id !== 0) ids.add(id);
  }
  return [...ids].sort((left, right) => left - right);
}
