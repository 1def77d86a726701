/** What a waf rule asks of the signatures (semantics §5 waf). */
import type { WafRule } from '../../src/model/types.ts';
import type { Facts } from './facts.ts';
import { utf8 } from './text.ts';
import type { WafProgram, WafVerdict } from './types.ts';

function bodyOf(body: unknown): Uint8Array | null {
  if (typeof body === 'string') return utf8(body);
  return body instanceof Uint8Array ? body : null;
}

/** The verdict under a rule's settings; `null` when no program is loaded. */
export function inspect(rule: WafRule, facts: Facts, program: WafProgram | null): WafVerdict | null {
  if (program === null) return null;
  const cap = rule.body_cap_kb * 1024;
  const body = cap === 0 ? null : bodyOf(facts.request.body);
  const { score, ids, exhausted } = program.inspect(
    { request: facts.request, body: body?.subarray(0, cap) ?? null },
    { paranoia: rule.paranoia, excludes: rule.rule_excludes },
  );
  return { score, ids, truncated: body !== null && body.length > cap, exhausted };
}
