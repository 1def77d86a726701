/**
 * Methods, schemes and networks, of which a request has one. In: the tests of one of them. Out: the sets of tests that a value
 * passes, each with a value.
 */
import type { SourceKind } from '../../../engine/plan/layout.ts';
import { bit, type SourceTest } from './value-language.ts';

/** Methods that witnesses prefer, in their order (RFC 9110 §9.3, RFC 5789). */
const METHODS = ['GET', 'POST', 'HEAD', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'];
/** A method of none of them (RFC 4918 §9.1), and the start of further ones. */
const OTHER_METHOD = 'PROPFIND';
/** Methods of requests of ACME servers (semantics §4). */
const FETCHING: readonly string[] = ['GET', 'HEAD'];
/** Networks for documentation start here (RFC 5398). */
const DOCUMENTED_ASN = 64_496;

/**
 * The sets of tests with the values that read best, those first; `null`: the value is unknown. For methods of ACME servers the bit
 * after those of the tests is set.
 */
export function oneValue(kind: SourceKind, tests: readonly SourceTest[]): ReadonlyMap<bigint, string | null> {
  const listed = tests.map(
    ({ patterns }) =>
      new Set(
        (patterns ?? []).flatMap(({ alternatives }) => (alternatives ?? []).map(([text = '']) => text)),
      ),
  );
  const found = new Map<bigint, string | null>();
  for (const value of candidates(kind, new Set(listed.flatMap((texts) => [...texts])))) {
    const passed = listed.reduce(
      (mask, texts, place) => (value !== null && texts.has(value) ? mask | bit(place) : mask),
      value !== null && FETCHING.includes(value) ? bit(tests.length) : 0n,
    );
    if (!found.has(passed)) found.set(passed, value);
  }
  return found;
}

/** Every listed value, and one that is not listed; `null`: an unknown one. */
function candidates(kind: SourceKind, listed: ReadonlySet<string>): readonly (string | null)[] {
  switch (kind) {
    case 'scheme':
      return ['https', 'http'];
    case 'method': {
      let other = OTHER_METHOD;
      while (listed.has(other)) other += 'X';
      return [...new Set([...METHODS, ...listed, other])];
    }
    default: {
      let other = DOCUMENTED_ASN;
      while (listed.has(String(other))) other++;
      return [null, ...listed, String(other)];
    }
  }
}
