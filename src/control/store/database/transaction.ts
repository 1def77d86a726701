/** Makes the repositories of a transaction over one session. */
import type { ReadTransaction, WriteTransaction } from '../store.ts';
import { attempt } from './lock-domain.ts';
import { accounts } from './repositories/accounts.ts';
import { audit, secrets } from './repositories/audit.ts';
import { invoices, quotas, wallets } from './repositories/billing.ts';
import { caches } from './repositories/caches.ts';
import { certificates } from './repositories/certificates.ts';
import { contacts } from './repositories/contacts.ts';
import { domains } from './repositories/domains.ts';
import { drafts } from './repositories/drafts.ts';
import { groups } from './repositories/groups.ts';
import { invariants } from './repositories/invariants.ts';
import { invitations } from './repositories/invitations.ts';
import { issuance } from './repositories/issuance.ts';
import { keys } from './repositories/keys.ts';
import { nodes } from './repositories/nodes.ts';
import { notifications } from './repositories/notifications.ts';
import { outbox } from './repositories/outbox.ts';
import { plans } from './repositories/plans.ts';
import { records } from './repositories/records.ts';
import { rules } from './repositories/rules.ts';
import { scans } from './repositories/scans.ts';
import { members, subscriptions } from './repositories/sharing.ts';
import { suspensions } from './repositories/suspensions.ts';
import { tickets } from './repositories/tickets.ts';
import { traffic } from './repositories/traffic-writes.ts';
import { uptime } from './repositories/uptime.ts';
import { zones } from './repositories/zones.ts';
import type { Session, WriteSession } from './session.ts';

/** The constructor of each repository, by its name in a transaction. */
const NOUNS = {
  accounts,
  keys,
  domains,
  members,
  invitations,
  subscriptions,
  suspensions,
  wallets,
  invoices,
  quotas,
  tickets,
  certificates,
  issuance,
  records,
  scans,
  rules,
  drafts,
  invariants,
  audit,
  outbox,
  plans,
  nodes,
  groups,
  traffic,
  uptime,
  caches,
  notifications,
  contacts,
  secrets,
  zones,
} as const;

/**
 * The repositories of one session. Each is made at its first use: a transaction uses three or four of them, and
 * most transactions are a few microseconds long.
 */
class Nouns {
  readonly #session: Session;
  constructor(session: Session) {
    this.#session = session;
  }
  static {
    for (const [name, make] of Object.entries(NOUNS)) {
      Object.defineProperty(Nouns.prototype, name, {
        get(this: Nouns) {
          const value = make(this.#session);
          Object.defineProperty(this, name, { value });
          return value;
        },
      });
    }
  }
}

/** The same for a writing session, with `attempt`. */
class WritingNouns extends Nouns {
  readonly attempt: WriteTransaction['attempt'];
  constructor(session: WriteSession) {
    super(session);
    this.attempt = (work) => attempt(session, work);
  }
}

/** The repositories of a reading session. */
export function readTransaction(session: Session): ReadTransaction {
  return new Nouns(session) as object as ReadTransaction;
}

/** The repositories of a writing session. */
export function writeTransaction(session: WriteSession): WriteTransaction {
  return new WritingNouns(session) as object as WriteTransaction;
}
