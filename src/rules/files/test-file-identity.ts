/** Reads whose request a test sends: `consumer`, `claims`, `scopes` and `quota_exhausted` under `with`. */
import {
  child,
  foundIn,
  type Item,
  type MapItem,
  mapOf,
  type Notes,
  readTexts,
  textOf,
  timeOf,
} from './test-file-values.ts';

/** Whose request it is, as the evaluator takes it. */
export interface TestIdentity {
  /** The username; `null`: a token that names no consumer. */
  readonly consumer: string | null;
  readonly claims?: Readonly<Record<string, unknown>>;
  readonly scopes?: readonly string[];
  /** Until when the quota of the consumer is exhausted, in milliseconds since the epoch. */
  readonly exhaustedUntil?: number;
}

/** Reads the four fields; `null`: the request has no credentials. */
export function readIdentity(facts: MapItem, notes: Notes): TestIdentity | null {
  const fields = ['consumer', 'claims', 'scopes', 'quota_exhausted'].map((key) => child(facts, key));
  const [consumer, claims, scopes, exhausted] = fields;
  if (fields.every((field) => field == null)) return null;
  const exhaustedUntil = exhausted == null ? null : timeOf(exhausted, notes);
  return {
    consumer: consumer == null ? null : textOf(consumer, 'the username of a consumer', notes),
    ...(claims == null ? {} : { claims: readClaims(claims, notes) }),
    ...(scopes == null ? {} : { scopes: readTexts(scopes, notes) }),
    ...(exhaustedUntil === null ? {} : { exhaustedUntil }),
  };
}

/** Reads claims: texts, numbers, `true` or `false`, and lists of texts, by name. */
function readClaims(item: Item, notes: Notes): Readonly<Record<string, unknown>> {
  const claims: [string, unknown][] = [];
  const map = mapOf(item, 'a map of claims by name', notes);
  for (const [name, { item: claim }] of map?.entries ?? []) {
    if (claim.kind === 'list') claims.push([name, readTexts(claim, notes)]);
    else if (claim.kind === 'scalar' && claim.value !== null) claims.push([name, claim.value]);
    else {
      const message = 'must be text, a number, `true`, `false` or a list of texts';
      notes.complain(claim, { code: 'invalid_type', message, found: foundIn(claim) });
    }
  }
  return Object.fromEntries(claims);
}
