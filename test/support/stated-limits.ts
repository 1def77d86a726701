/** The fields `RateLimit-Policy` and `RateLimit` of what the oracle states; the names of policies are the evaluator's own. */
import {
  operationName,
  planName,
  policyName,
  type RateLimitFields,
} from '../../src/engine/evaluator/rate-outcomes.ts';
import type { StatedLimit } from '../oracle/index.ts';

/** The fields of a response; `null`: it states nothing. */
export function statedFields(states: readonly StatedLimit[]): RateLimitFields | null {
  if (states.length === 0) return null;
  const nameOf = ({ id, key, plan }: StatedLimit): string =>
    id === null ? namedPlan(plan!) : policyName(id, key ?? '');
  const list = (member: 'policy' | 'limit'): string =>
    states.map((state) => `"${nameOf(state)}";${state[member]}`).join(', ');
  return { policy: list('policy'), limit: list('limit') };
}

/** The name of a usage plan, of its quota (`<plan> quota`), or of limits of an operation (`operation <gateway>`, a line break, its text). */
function namedPlan(plan: string): string {
  if (plan.startsWith('operation ')) {
    const [gateway = '', operation = ''] = plan.slice('operation '.length).split('\n');
    return operationName(gateway, operation);
  }
  const [name = '', ...quota] = plan.split(' ');
  return [planName(name), ...quota].join(' ');
}
