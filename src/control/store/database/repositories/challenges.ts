/**
 * The HTTP-01 challenges of names in the manifest. A change reads the list and writes it under the lock on the domain, so
 * that no change of several writers is lost.
 */
import { type PlanWrites, withChallenge, withoutChallenge } from '../../edge-repositories.ts';
import type { ManifestRow } from '../../tables/plans.ts';
import { lockDomain } from '../lock-domain.ts';
import { one, type Session, statement } from '../statement.ts';

// The positions of the manifest, which every change of a name takes one of.

/** Locks the one row of positions until the commit, so positions become visible in their order. */
export const nextPosition = statement((builder, _: object) =>
  builder
    .updateTable('manifest_position')
    .set((row) => ({ position: row('position', '+', 1) }))
    .returning('position'),
);

/** No row of a name that another domain has in the manifest: a domain without a proof may have the same name. */
const listed = statement((builder, p: Pick<ManifestRow, 'domain' | 'domain_id'>) =>
  builder
    .selectFrom('manifest')
    .select(['challenges', 'revision'])
    .where('domain', '=', p.domain)
    .where('domain_id', '=', p.domain_id),
);

const write = statement(
  (builder, p: Pick<ManifestRow, 'domain' | 'domain_id' | 'challenges' | 'position' | 'at'>) =>
    builder
      .updateTable('manifest')
      .set({ challenges: p.challenges, position: p.position, at: p.at })
      .where('domain', '=', p.domain)
      .where('domain_id', '=', p.domain_id),
);

/** The writes of challenges in a session. */
export function challengeWrites(session: Session): Pick<PlanWrites, 'setChallenge' | 'removeChallenge'> {
  /** @returns whether the name is published for the domain */
  async function change(
    { id, name }: { readonly id: number; readonly name: string },
    { at, next }: { readonly at: number; readonly next: (list: string | null) => string | null },
  ): Promise<boolean> {
    await lockDomain(session, id);
    const row = await one(session, listed, { domain: name, domain_id: id });
    if (row === null || row.revision === 0) return false;
    const challenges = next(row.challenges);
    if (challenges === row.challenges) return true;
    session.note('manifest');
    const [given] = await nextPosition(session, {});
    await write(session, { domain: name, domain_id: id, challenges, position: given!.position, at });
    return true;
  }

  return {
    setChallenge: (domain, challenge) =>
      change(domain, { at: challenge.at, next: (list) => withChallenge(list, challenge) }),
    async removeChallenge(domain, challenge) {
      await change(domain, { at: challenge.at, next: (list) => withoutChallenge(list, challenge) });
    },
  };
}
