/**
 * The HTTP-01 challenges of a name as the manifest stores them: a JSON list, the oldest first. In: the list of a row.
 * Out: the list after a change. Challenges that a crash left behind end by their age.
 */
import { CHALLENGE_MS, MAX_CHALLENGES } from '../../base/vocabulary/limits.ts';

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
