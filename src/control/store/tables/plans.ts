/** What waits for a publication, what was published, and purges. */
import { CHALLENGE_MS, MAX_CHALLENGES } from '../../../base/vocabulary/limits.ts';
import { author } from './accounts.ts';
import { bytes, flag, id, integer, type RowOf, table, text, time } from './describe.ts';
import { domains } from './domains.ts';

/** Work for publishers. */
export const outbox = table(
  'outbox',
  2,
  {
    /** Rising within a domain in the order of commits. */
    id: id(),
    domain_id: integer(),
    domain: text(),
    ...author,
    at: time(),
    reason: text(),
    claimed_until: time().preset(0),
    /** Only the content of lists has changed, so that the rules need not be compiled again. */
    lists_only: flag().preset(0).since(24),
  },
  { indexes: { outbox_by_domain: ['domain_id', 'id'] } },
);

/** Work for the publisher: one accepted change of what the edge does. */
export interface OutboxRow extends Omit<RowOf<typeof outbox>, 'claimed_until'> {}

/** A domain with outbox rows that no publisher has claimed. */
export interface PendingDomain {
  readonly domain_id: number;
  readonly domain: string;
  /** How many rows wait. */
  readonly rows: number;
  /** The newest of them. */
  readonly through: number;
  /** When the oldest of them was written. */
  readonly since: number;
}

/** Sealed plans by digest. */
export const planBlobs = table('plan_blobs', 2, { digest: text().key(), created_at: time(), bytes: bytes() });

/** Publications; a row is never changed but for `pruned`. */
export const planRevisions = table(
  'plan_revisions',
  2,
  {
    domain: text(),
    /** The domain object it was made for; a name that was deleted and created again has several. */
    domain_id: integer(),
    /** 1, 2, 3 … per name, without gaps, also across deletion. */
    revision: integer(),
    /** SHA-256 of the sealed plan, lower-case hex; `null`: a tombstone, nothing is served. */
    digest: text().nullable(),
    ...author,
    reason: text(),
    at: time(),
    /** It covers every outbox row of `domain_id` up to this id. */
    through: integer(),
    /** Its plan was removed; the row stays. */
    pruned: flag().preset(0).since(8),
  },
  {
    key: ['domain', 'revision'],
    withoutRowid: true,
    indexes: {
      plan_revisions_by_domain: ['domain_id', 'revision'],
      plan_revisions_by_digest: ['digest'],
      // Only revisions whose plans are stored: pruning reads no others.
      plan_revisions_unpruned: {
        on: ['domain', 'revision'],
        where: 'pruned = 0 AND digest IS NOT NULL',
        since: 8,
      },
    },
  },
);

/** A revision in the history. */
export interface FiledRevision extends RowOf<typeof planRevisions> {}

/** One publication, never changed once written. */
export interface RevisionRow extends Omit<FiledRevision, 'pruned'> {}

/** A revision whose plan is stored. */
export interface StoredPlan extends Pick<RevisionRow, 'revision' | 'at'> {
  /** Octets of the sealed plan. */
  readonly octets: number;
}

/** A name's current plan: the octets that give its layout version, and the changes that it covers. */
export interface PlanHead extends Pick<RevisionRow, 'domain' | 'domain_id' | 'revision' | 'through'> {
  /** The first eight octets of the sealed plan; `null` if the store does not have it. */
  readonly head: Uint8Array | null;
}

/** What nodes should serve, by name. */
export const manifest = table('manifest', 2, {
  domain: text().key(),
  domain_id: integer(),
  /** 0: nothing has been published yet. */
  revision: integer(),
  /** `null`: a tombstone (or, at revision 0, nothing yet). */
  digest: text().nullable().references(planBlobs),
  /** Rises with every purge of the domain's cache, and when the name goes to another domain. */
  purge_epoch: integer(),
  /**
   * Rises by one with every change of any name, in the order in which the changes become visible: a reader
   * that has read up to a position misses nothing by reading what is above it.
   */
  position: integer().unique(),
  at: time(),
  /** The groups whose nodes serve it, as `base/vocabulary/node-groups.ts` writes them: those of its domain when it was published. */
  node_groups: text().since(11, 'default'),
  /** The groups that served it before: their nodes read a tombstone. */
  left_groups: text().since(11, ''),
  /** The digest of the certificates of its domain (`engine/plan/manifest.ts`); `null`: it has none. */
  certificates: text().nullable().since(18),
  /** The HTTP-01 challenges of its domain, as `repositories/challenges.ts` writes them; `null`: none. */
  challenges: text().nullable().since(19),
  /** The position of the domain's newest purge of single responses; 0: there was none. */
  purge_through: integer().since(20, 0),
  /** The highest position of such a purge that is not stored any more; 0: all are. */
  purge_floor: integer().since(20, 0),
});

/** What nodes should serve for one name now. */
export interface ManifestRow extends RowOf<typeof manifest> {}

/** One row: the last position given. A publication locks it until the commit, so positions become visible in order. */
export const manifestPosition = table('manifest_position', 2, {
  id: integer().key().check('id = 1'),
  position: integer(),
});

/** Purges of single responses. */
export const cachePurges = table(
  'cache_purges',
  20,
  {
    domain_id: integer().references(domains, 'cascade'),
    kind: text<'url' | 'prefix' | 'tag' | 'refresh'>(),
    /** In its normal form (`base/paths/purge-values.ts`). */
    value: text(),
    /** The position of the manifest that the purge was given. */
    position: integer(),
  },
  {
    key: ['domain_id', 'kind', 'value'],
    withoutRowid: true,
    indexes: { cache_purges_by_position: ['domain_id', 'position'] },
  },
);

/** One purged value of a domain; a later purge of the same value replaces it. */
export interface CachePurgeRow extends Omit<RowOf<typeof cachePurges>, 'domain_id'> {}

/** A challenge that nodes answer. */
export interface StoredChallenge {
  readonly token: string;
  /** The key authorization (RFC 8555 §8.1). */
  readonly answer: string;
  /** When it was set, milliseconds since the epoch. */
  readonly at: number;
}

/** The challenges of a list that are not older than `CHALLENGE_MS` at `now`. */
export function freshChallenges(list: string | null, now: number): readonly StoredChallenge[] {
  if (list === null) return [];
  const stored = JSON.parse(list) as readonly StoredChallenge[];
  return stored.filter(({ at }) => now - at <= CHALLENGE_MS);
}

/** The list with one more challenge, which replaces that of its token; of too many the oldest are left out. */
export function withChallenge(list: string | null, { token, answer, at }: StoredChallenge): string {
  const others = freshChallenges(list, at).filter((other) => other.token !== token);
  return JSON.stringify([...others, { token, answer, at }].slice(-MAX_CHALLENGES));
}

/** The list without the challenge of a token; `null`: none is left. */
export function withoutChallenge(
  list: string | null,
  { token, at }: Pick<StoredChallenge, 'token' | 'at'>,
): string | null {
  const others = freshChallenges(list, at).filter((other) => other.token !== token);
  return others.length === 0 ? null : JSON.stringify(others);
}
