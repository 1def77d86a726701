/** Answers to certificate authorities on SQLite: the HTTP-01 challenges of a name (RFC 8555 §8.3), which nodes answer. */

/** A JSON list, see `store/stored-challenges.ts`; NULL: none. */
export const SQLITE_CHALLENGES: string = `
ALTER TABLE manifest ADD COLUMN challenges TEXT;
`;
