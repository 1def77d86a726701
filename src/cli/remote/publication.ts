/**
 * Describes the outcome of a publication. A revision of a domain that must not be served is published but not
 * served.
 */
import { mayServe } from '../../control/publishing/plan-subject.ts';
import type { DomainRow } from '../../control/store/rows.ts';
import { visible } from '../../workbench/simulation/render-text.ts';
import type { ServerAccess } from './call-api.ts';
import { getDomain } from './remote-domain.ts';

/** The part of a domain that decides whether it is served. */
type State = Pick<DomainRow, 'status' | 'suspended'>;

/** The outcome, for printing. */
export interface PublicationOutcome {
  /** Whether nodes serve the revision. */
  readonly served: boolean;
  /** A clause, such as `example.com is out as revision 4`. */
  readonly clause: string;
  /** How the domain gets served; `null` if it is served already, or if only the service can change that. */
  readonly remedy: string | null;
}

/** Reads the state of the domain and describes whether its published revision is served. */
export async function publicationOutcome(
  domain: string,
  revision: string,
  options: ServerAccess,
): Promise<PublicationOutcome> {
  const state = (await getDomain(domain, options)) as State;
  if (mayServe(state))
    return { served: true, clause: `${domain} is out as revision ${revision}`, remedy: null };
  const why = state.suspended ? 'suspended' : state.status;
  const clause = `${domain} is published as revision ${revision}, but not served while it is ${visible(why)}`;
  return { served: false, clause, remedy: nextStep(domain, state) };
}

/** The next step for a state that is not served; `null` if no step helps. */
export function nextStep(domain: string, { status }: Pick<State, 'status'>): string | null {
  if (status === 'pending') {
    return `delegate it to a set of GET /domains/ns-sets; POST /domains/${domain}/check-ns checks it at once`;
  }
  if (status === 'unverified') {
    return `publish the TXT record that GET /domains/${domain} shows, then POST /domains/${domain}/verify`;
  }
  return status === 'disabled' ? `POST /domains/${domain}/enable enables it again` : null;
}
