/** How a command tells that a revision is out: one of a domain that must not serve refuses its requests. */
import { mayServe } from '../../publisher/plan-subject.ts';
import type { DomainRow } from '../../store/rows.ts';
import type { ServerAccess } from './call-api.ts';
import { getDomain } from './remote-domain.ts';

type State = Pick<DomainRow, 'status' | 'suspended'>;

export interface PublicationOutcome {
  /** A clause, such as `example.com is out as revision 4`. */
  readonly clause: string;
  /** How the domain comes to be served; `null` where it is, or where only the service itself can say so. */
  readonly remedy: string | null;
}

/** Asks the server whether it serves the domain of a revision that was published. */
export async function publicationOutcome(
  domain: string,
  revision: string,
  options: ServerAccess,
): Promise<PublicationOutcome> {
  const state = (await getDomain(domain, options)) as State;
  if (mayServe(state)) return { clause: `${domain} is out as revision ${revision}`, remedy: null };
  const why = state.suspended ? 'suspended' : state.status;
  const clause = `${domain} is published as revision ${revision}, but not served while it is ${why}`;
  return { clause, remedy: remedyOf(domain, state) };
}

function remedyOf(domain: string, { status }: State): string | null {
  if (status === 'pending') {
    return `delegate it to a set of GET /domains/ns-sets; POST /domains/${domain}/check-ns looks at once`;
  }
  if (status === 'unverified') {
    return `publish the TXT record that GET /domains/${domain} shows, then POST /domains/${domain}/verify`;
  }
  return status === 'disabled' ? `POST /domains/${domain}/enable brings it back` : null;
}
