/**
 * The HTTP-01 challenges of names in the manifest. A change reads the list and writes it under the lock on the domain, so
 * that no change of several writers is lost.
 */
import { lockDomain } from '../database/lock-domain.ts';
import { one, type Session, statement } from '../database/statement.ts';
import type { DomainRow } from '../tables/domains.ts';
import { type ManifestRow, type StoredChallenge, withChallenge, withoutChallenge } from '../tables/plans.ts';

/** A domain by its id, and its name in the manifest. */
export type NamedDomain = Pick<DomainRow, 'id' | 'name'>;

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
export function challengeWrites(session: Session) {
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
    /**
     * Adds an HTTP-01 challenge (RFC 8555 §8.3), or replaces the one of its token: the name's entry has it at a new position.
     * Challenges older than `CHALLENGE_MS` are removed, and the oldest beyond `MAX_CHALLENGES`. Returns whether the name is
     * published for this domain; else nothing changes.
     */
    setChallenge: (domain: NamedDomain, challenge: StoredChallenge): Promise<boolean> =>
      change(domain, { at: challenge.at, next: (list) => withChallenge(list, challenge) }),
    /** Removes the challenge of a token: the name's entry lacks it at a new position. */
    async removeChallenge(
      domain: NamedDomain,
      challenge: Pick<StoredChallenge, 'token' | 'at'>,
    ): Promise<void> {
      await change(domain, { at: challenge.at, next: (list) => withoutChallenge(list, challenge) });
    },
  };
}
