/** The table of invariants, on SQLite: what must be proved of a draft before it is published. */

/** The DDL of this step. */
export const SQLITE_INVARIANTS: string = `
CREATE TABLE domain_invariants (
  domain_id INTEGER PRIMARY KEY REFERENCES domains ON DELETE CASCADE,
  edit INTEGER NOT NULL,
  body TEXT NOT NULL
) STRICT;
`;
