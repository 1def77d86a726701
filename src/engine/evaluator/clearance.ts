/** How long a solved challenge stays valid: as the challenging rule sets it (semantics §5 captcha, rate_limit). */
import { DEFAULT_CAPTCHA_TTL_SEC } from '../../base/vocabulary/limits.ts';
import { CAPTCHA_FIELDS, RATE_FIELDS } from '../plan/fields.ts';
import { META, SLOT, typeIndex } from '../plan/layout.ts';
import type { RuleRef } from './decision.ts';
import type { LoadedPlan } from './loaded.ts';

/** Seconds; the default for types without a lifetime of their own, and for rules that the plan does not have. */
export function clearanceSec(loaded: LoadedPlan, { type, id }: RuleRef): number {
  if (type !== 'captcha' && type !== 'rate_limit') return DEFAULT_CAPTCHA_TTL_SEC;
  const { meta, slots, words } = loaded.plan;
  const field = type === 'captcha' ? CAPTCHA_FIELDS.ttl : RATE_FIELDS.window;
  const phase = META.phases + typeIndex(type);
  // A linear search: it runs once a challenge, which costs far more than reading each rule of one type.
  for (let slot = meta[phase]!; slot < meta[phase + 1]!; slot++) {
    if (slots[slot * SLOT.size + SLOT.id] === id)
      return words[slots[slot * SLOT.size + SLOT.fields]! + field]!;
  }
  return DEFAULT_CAPTCHA_TTL_SEC;
}
