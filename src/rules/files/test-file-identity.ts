/** Reads whose request a test sends: `consumer`, `claims` and `scopes` under `with`, as a gateway has verified them. */
import {
  child,
  foundIn,
  type Item,
  type MapItem,
  mapOf,
  type Notes,
  readTexts,
  textOf,
} from './test-file-values.ts';

/** Whose request it is, as the evaluator takes it. */
export interface TestIdentity {
  /** The username; `null`: a token that names no consumer. */
  readonly consumer: string | null;
  readonly claims?: Readonly<Record<string, unknown>>;
  readonly scopes?: readonly string[];
}

/** Reads the three fields; `null`: the request has no credentials. */
export function readIdentity(facts: MapItem, notes: Notes): TestIdentity | null {
  const [consumer, claims, scopes] = ['consumer', 'claims', 'scopes'].map((key) => child(facts, key));
  if (consumer == null && claims == null && scopes == null) return null;
  return {
    consumer: consumer == null ? null : textOf(consumer, 'the username of a consumer', notes),
    ...(claims == null ? {} : { claims: readClaims(claims, notes) }),
    ...(scopes == null ? {} : { scopes: readTexts(scopes, notes) }),
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
