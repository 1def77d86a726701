/**
 * The same drop rules as Cedar policies: one `permit` for everything and a `forbid` per rule, parsed once into Cedar's
 * own cache. What is timed is its stateful call, with no schema to check and no entities to load.
 */
import { preparsePolicySet, statefulIsAuthorized } from '@cedar-policy/cedar-wasm/nodejs';
import type { EdgeRequest } from '../../src/engine/evaluator/request.ts';
import type { DropRule } from '../../src/rules/model/types.ts';
import type { Answer } from '../harness/answer.ts';

export const API = 'statefulIsAuthorized over preparsePolicySet, no schema, no entities';

const POLICY_SET = 'bench';

/** Answers requests through Cedar; the rule that decides is the first of the policies it names. */
export function cedar(rules: readonly DropRule[]): (request: EdgeRequest) => Answer {
  const policies = Object.fromEntries(rules.map((rule) => [String(rule.id), policyOf(rule)]));
  const staticPolicies = { everyone: 'permit(principal, action, resource);', ...policies };
  const parsed = preparsePolicySet(POLICY_SET, { staticPolicies });
  if (parsed.type === 'failure') throw new Error(`cedar refuses the policies: ${parsed.errors[0]?.message}`);
  return (request) => {
    const answer = statefulIsAuthorized({
      principal: { type: 'Visitor', id: 'v' },
      action: { type: 'Action', id: 'get' },
      resource: { type: 'Site', id: 's' },
      context: {
        host: request.host as string,
        path: request.target.split('?')[0]!,
        country: request.country ?? '',
        ip: { __extn: { fn: 'ip', arg: request.ip! } },
      },
      preparsedPolicySetId: POLICY_SET,
      entities: [],
    });
    if (answer.type === 'failure') throw new Error(`cedar failed: ${answer.errors[0]?.message}`);
    const { decision, diagnostics } = answer.response;
    if (decision === 'allow') return { action: 'forward', type: null, id: null, matched: null };
    return { action: 'block', type: 'drop', id: Math.min(...diagnostics.reason.map(Number)), matched: null };
  };
}

function policyOf(rule: DropRule): string {
  const conditions: string[] = [];
  if (rule.countries.length > 0)
    conditions.push(`${JSON.stringify(rule.countries)}.contains(context.country)`);
  if (rule.ips.length > 0) conditions.push(`context.ip.isInRange(ip("${rule.ips[0]}"))`);
  if (rule.host_includes.length > 0) conditions.push(`context.host == "${rule.host_includes[0]}"`);
  const [entry] = rule.path_includes;
  if (entry !== undefined && entry !== '/*') conditions.push(`context.path like "${entry}"`);
  return `forbid(principal, action, resource) when { ${conditions.join(' && ')} };`;
}
