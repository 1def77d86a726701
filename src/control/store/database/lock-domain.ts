/**
 * Locks on domains: two writes that name one domain run one after the other. Domains of one name are locked together, by
 * id, since a proof of one removes the others: in another order, two proofs would wait for each other.
 */
import { idsIn, type Session, statement, type WriteSession } from './statement.ts';

/** Locks all domains of the name, by id. */
const lockRowsOfName = statement((builder, p: { id: number }) =>
  builder
    .selectFrom('domains')
    .select('id')
    .where('name', '=', (row) =>
      row.selectFrom('domains as one').select('one.name').where('one.id', '=', p.id),
    )
    .orderBy('id')
    .forNoKeyUpdate(),
);

/** Locks the domain until the transaction ends, if the database locks rows. A domain that is gone locks nothing. */
export async function lockDomain(session: Session, domainId: number): Promise<void> {
  if (!session.locking || session.lockedDomains.has(domainId)) return;
  session.lockedDomains.add(domainId);
  for (const { id } of await lockRowsOfName(session, { id: domainId })) session.lockedDomains.add(id);
}

const lockRowsOfNames = statement((builder, p: { ids: string }, flavour) =>
  builder
    .selectFrom('domains')
    .select('id')
    .where('name', 'in', (row) =>
      row.selectFrom('domains as one').select('one.name').where('one.id', 'in', idsIn(p.ids, flavour)),
    )
    .orderBy('id')
    .forNoKeyUpdate(),
);

/** The same for several domains, in one order for all transactions. */
export async function lockDomains(session: Session, domainIds: readonly number[]): Promise<void> {
  const open = domainIds.filter((id) => !session.lockedDomains.has(id));
  if (!session.locking || open.length === 0) return;
  for (const id of open) session.lockedDomains.add(id);
  for (const { id } of await lockRowsOfNames(session, { ids: JSON.stringify(open) }))
    session.lockedDomains.add(id);
}

/** `WriteTransaction.attempt`. */
export async function attempt<T>(session: WriteSession, work: () => Promise<T>): Promise<T> {
  const held = [...session.lockedDomains];
  await session.run('SAVEPOINT attempt', []);
  try {
    const result = await work();
    if (session.failed !== null) throw session.failed;
    await session.run('RELEASE SAVEPOINT attempt', []);
    return result;
  } catch (error) {
    await backToSavepoint(session, error);
    // Rolling back to a savepoint releases the row locks taken since.
    session.lockedDomains.clear();
    for (const id of held) session.lockedDomains.add(id);
    throw error;
  }
}

/** Undoes what came after the savepoint. Throws `error` again if the database has given up the whole transaction. */
async function backToSavepoint(session: WriteSession, error: unknown): Promise<void> {
  const failed = session.failed;
  session.failed = null;
  try {
    await session.run('ROLLBACK TO SAVEPOINT attempt', []);
    await session.run('RELEASE SAVEPOINT attempt', []);
  } catch {
    session.failed = failed ?? session.failed;
    throw error;
  }
}

// Which of several domains of one name is meant by the name.

/** The columns that decide; `ever_active` as a flag or as the database returns it. */
interface Candidate {
  readonly unproved_since: number | null;
  readonly ever_active: boolean | number;
}

/** The domain that has proved the name, else one that was active once, else the oldest; `rows` are by id. */
export function holderOf<Row extends Candidate>(rows: readonly Row[]): Row | null {
  const proved = rows.find(({ unproved_since }) => unproved_since === null);
  return proved ?? rows.find(({ ever_active }) => Boolean(ever_active)) ?? rows[0] ?? null;
}
