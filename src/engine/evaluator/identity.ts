/**
 * The identity of a rule from one plan to the next (semantics §7, Identity). For a rule of the API it is its id. In an edge
 * file an id is only a place, so there the plan has a key for each rule: the one its author wrote, or `~` and a hash of
 * the rule's content. Clearances, tags, counters, pool health and logs name rules by this identity.
 */
import { RECORD_KEY, ruleTypeOf, SLOT } from '../plan/layout.ts';
import type { RuleRef } from './decision.ts';
import type { Facts } from './facts.ts';
import { type LoadedPlan, textOf } from './loaded.ts';

/** `<type>/<key>`, or `<type>/<id>` if the rule or record has no key. */
export function refText({ type, id, key }: RuleRef): string {
  return `${type}/${key ?? id}`;
}

/** Whether a key is `~` and a hash of the content of the rule or record, not one that an author wrote. */
export function isContentAddressed(key: string): boolean {
  return key.startsWith('~');
}

/** The key of the rule in a slot; empty: its identity is its id. */
export function keyOfSlot(loaded: LoadedPlan, slot: number): string {
  const { ruleKeys } = loaded.plan;
  return ruleKeys.length === 0 ? '' : textOf(loaded, ruleKeys[slot]!);
}

/** The rule in a slot. */
export function refOfSlot(loaded: LoadedPlan, slot: number): RuleRef {
  const { slots } = loaded.plan;
  const row = slot * SLOT.size;
  const type = ruleTypeOf(slots[row + SLOT.flags]!);
  return withKey({ type, id: slots[row + SLOT.id]! }, keyOfSlot(loaded, slot));
}

/** A record with a challenge of its own. */
export function refOfRecord(loaded: LoadedPlan, id: number): RuleRef {
  const { recordKeys } = loaded.plan;
  for (let row = 0; row < recordKeys.length; row += RECORD_KEY.size) {
    if (recordKeys[row + RECORD_KEY.id] !== id) continue;
    return withKey({ type: 'record', id }, textOf(loaded, recordKeys[row + RECORD_KEY.key]!));
  }
  return { type: 'record', id };
}

function withKey(ref: RuleRef, key: string): RuleRef {
  return key === '' ? ref : { ...ref, key };
}

/** Whether the visitor has solved the challenge of the rule in a slot. */
export function isCleared(facts: Facts, loaded: LoadedPlan, slot: number): boolean {
  return facts.cleared.length > 0 && facts.cleared.includes(refText(refOfSlot(loaded, slot)));
}

/** Whether the visitor has solved the challenge of a record. */
export function isRecordCleared(facts: Facts, loaded: LoadedPlan, id: number): boolean {
  return facts.cleared.length > 0 && facts.cleared.includes(refText(refOfRecord(loaded, id)));
}
