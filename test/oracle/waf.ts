/** What a waf rule asks of the signatures (semantics §5 waf). */
import type { WafRule } from '../../src/rules/model/types.ts';
import type { Facts } from './facts.ts';
import { entryTest, pathForms } from './filters.ts';
import { utf8 } from './text.ts';
import type { WafProgram, WafVerdict } from './types.ts';

/** The octets of a body; `null`: none are given. */
export function octetsOf(body: unknown): Uint8Array | null {
  if (typeof body === 'string') return utf8(body);
  return body instanceof Uint8Array ? body : null;
}

/** Whether there is a body that was not given: of a kind that is none, or only announced by the head. */
export function isUnread({ body, headers }: Facts['request']): boolean {
  if (body !== undefined) return body !== null && octetsOf(body) === null;
  const head = (headers ?? {}) as Readonly<Record<string, unknown>>;
  const length = head['content-length'];
  return head['transfer-encoding'] !== undefined || (length !== undefined && Number(length) !== 0);
}

/** Those whose path matches in every form the path has; what is left empty is `null` to a program. */
function exclusionsOf({ exclusions }: WafRule, facts: Facts) {
  return exclusions
    .filter(({ path }) => pathForms(facts).every(entryTest('path', 'wildcard', path)))
    .map(({ id, tag, target }) => ({ id, tag: tag || null, target: target || null }));
}

/** The verdict under a rule's settings; `null` when no program is loaded. */
export function inspect(rule: WafRule, facts: Facts, program: WafProgram | null): WafVerdict | null {
  if (program === null) return null;
  const cap = rule.body_cap_kb * 1024;
  const body = cap === 0 ? null : octetsOf(facts.request.body);
  const truncated = body !== null && (body.length > cap || facts.request.bodyTruncated === true);
  const { paranoia, threshold, rule_excludes } = rule;
  const finding = program.inspect(
    {
      request: facts.request,
      body: body?.subarray(0, cap) ?? null,
      truncated,
      bodyError: facts.request.bodyError ?? null,
    },
    { paranoia, threshold, excludes: rule_excludes, exclusions: exclusionsOf(rule, facts) },
  );
  const coding = cap > 0 ? (facts.request.bodyError ?? null) : null;
  const bodyError = coding ?? finding.bodyError;
  const verdict = { ...finding, bodyError, truncated, uninspected: null };
  if (cap === 0) return verdict;
  if (bodyError === null && truncated) return { ...verdict, uninspected: 'beyond_cap' };
  if (bodyError === null && !isUnread(facts.request)) return verdict;
  const uninspected = coding !== null ? 'coding' : bodyError !== null ? 'unparsable' : 'unread';
  if (rule.on_uninspected !== 'score') return { ...verdict, uninspected };
  // Signatures may have scored the same defect: both together come to a critical one's 5.
  const known = finding.matches.filter(({ variable }) =>
    /^REQBODY_(PROCESSOR_)?ERROR(_MSG)?$/.test(variable),
  );
  const added = Math.max(0, 5 - known.reduce((sum, { score }) => sum + score, 0));
  const categories = added === 0 ? finding.categories : { ...finding.categories, uninspected: added };
  return { ...verdict, uninspected, score: finding.score + added, categories };
}
