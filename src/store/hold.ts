/** Locks on domains: two writes that name one domain run one after the other. */
import { isStoreFault } from './fault.ts';
import type { Session, WriteSession } from './session.ts';
import { statement } from './statement.ts';

const lockDomain = statement((builder, p: { id: number }) =>
  builder.selectFrom('domains').select('id').where('id', '=', p.id).forNoKeyUpdate(),
);

/** Locks the domain until the transaction ends, where that takes anything. A domain that is gone locks nothing. */
export async function hold(session: Session, domainId: number): Promise<void> {
  if (!session.locking || session.held.has(domainId)) return;
  session.held.add(domainId);
  await lockDomain(session, { id: domainId });
}

/** `WriteTransaction.attempt`. */
export async function attempt<T>(session: WriteSession, work: () => Promise<T>): Promise<T> {
  const held = [...session.held];
  await session.run('SAVEPOINT attempt', []);
  try {
    const result = await work();
    if (session.failed !== null) throw session.failed;
    await session.run('RELEASE SAVEPOINT attempt', []);
    return result;
  } catch (error) {
    // Nothing to go back to: the store is closed, or the database gave the whole transaction up.
    if (isStoreFault(error, 'closed') || isStoreFault(error, 'unavailable')) throw error;
    session.failed = null;
    await session.run('ROLLBACK TO SAVEPOINT attempt', []);
    await session.run('RELEASE SAVEPOINT attempt', []);
    // Rolling back to a savepoint lets go of the row locks taken since.
    session.held.clear();
    for (const id of held) session.held.add(id);
    throw error;
  }
}
