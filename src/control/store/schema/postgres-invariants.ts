/** The table of invariants, on PostgreSQL: what must be proved of a draft before it is published. */

/** The DDL of this step. */
export const POSTGRES_INVARIANTS: string = `
CREATE TABLE domain_invariants (
  domain_id bigint PRIMARY KEY REFERENCES domains ON DELETE CASCADE,
  edit bigint NOT NULL,
  body text COLLATE "C" NOT NULL
);
`;
