/** Answers to certificate authorities on PostgreSQL: the HTTP-01 challenges of a name (RFC 8555 §8.3), which nodes answer. */

/** A JSON list, see `store/stored-challenges.ts`; NULL: none. */
export const POSTGRES_CHALLENGES: string = `
ALTER TABLE manifest ADD COLUMN challenges text COLLATE "C";
`;
