/** What the page knows over the management API: a part of the page's state, replaced as a whole. */
import { getState, setState } from '../state.ts';
import type { ApiState, DomainShown } from './documents.ts';

/** The state of a page where nobody has signed in. */
export const SIGNED_OUT: ApiState = {
  session: 'out',
  refused: null,
  waiting: null,
  notice: null,
  live: true,
  domains: [],
  domain: null,
  readOnlyKey: false,
  revisions: [],
  rules: null,
  records: null,
  nodes: null,
  hits: null,
  findings: null,
  fields: null,
};

/** The state now. */
export function getApi(): ApiState {
  return getState().api ?? SIGNED_OUT;
}

/** Replaces parts of the state. */
export function setApi(change: Partial<ApiState>): void {
  setState({ api: { ...getApi(), ...change } });
}

/** Whether the key may do something on the domain. */
export function may(permission: DomainShown['permissions'][number]): boolean {
  const { domain, readOnlyKey } = getApi();
  return domain?.permissions.includes(permission) === true && (permission === 'domain.view' || !readOnlyKey);
}
