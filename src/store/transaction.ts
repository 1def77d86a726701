/** Puts the nouns together over one session. */
import { attempt } from './hold.ts';
import { accounts } from './nouns/accounts.ts';
import { audit, secrets } from './nouns/audit.ts';
import { domains } from './nouns/domains.ts';
import { groups } from './nouns/groups.ts';
import { hits } from './nouns/hits.ts';
import { invitations } from './nouns/invitations.ts';
import { keys } from './nouns/keys.ts';
import { nodes, usage } from './nouns/nodes.ts';
import { outbox } from './nouns/outbox.ts';
import { plans } from './nouns/plans.ts';
import { records } from './nouns/records.ts';
import { rules } from './nouns/rules.ts';
import { scans } from './nouns/scans.ts';
import { certificates, members, subscriptions } from './nouns/sharing.ts';
import type { Session, WriteSession } from './session.ts';
import type { ReadTransaction, WriteTransaction } from './store.ts';

const NOUNS = {
  accounts,
  keys,
  domains,
  members,
  invitations,
  subscriptions,
  certificates,
  records,
  scans,
  rules,
  audit,
  outbox,
  plans,
  nodes,
  groups,
  usage,
  hits,
  secrets,
} as const;

/**
 * The nouns of one session. Each is made when it is first asked for: a transaction uses three or four of them, and
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

class WritingNouns extends Nouns {
  readonly attempt: WriteTransaction['attempt'];
  constructor(session: WriteSession) {
    super(session);
    this.attempt = (work) => attempt(session, work);
  }
}

export function readTransaction(session: Session): ReadTransaction {
  return new Nouns(session) as object as ReadTransaction;
}

export function writeTransaction(session: WriteSession): WriteTransaction {
  return new WritingNouns(session) as object as WriteTransaction;
}
