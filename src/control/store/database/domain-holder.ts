/** Which of several domains of one name is meant by the name. */

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
