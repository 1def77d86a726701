/**
 * The words of `when` about credentials: `consumer` and `scope` (semantics §15). In: the words as written. Out: the consumers and
 * scopes that are meant. They are no filters of rules, since rules are evaluated before gateways read credentials.
 */
import { quoteValue } from '../../base/diagnostics/diagnostic.ts';
import { SCOPE } from './fields.ts';
import type { ReadFilter } from './invariant-conditions.ts';
import { judgeUsername } from './registry/names.ts';
import type { Report } from './report.ts';

/** Words about credentials. */
export const IDENTITY_WORDS = ['consumer', 'scope'] as const;

/** Entries that a request must have one of, and entries of which it must have none. */
export interface NamedEntries {
  /** `null`: any. */
  readonly wanted: readonly string[] | null;
  readonly unwanted: readonly string[];
}

/** The credentials that are meant. */
export interface IdentityWords {
  /** Usernames, and `NO_CONSUMER`. */
  readonly consumers: NamedEntries;
  /** Scopes of the token and of the consumer; a request without a consumer has none. */
  readonly scopes: NamedEntries;
}

/** What `consumer` names a request without valid credentials by. */
export const NO_CONSUMER = 'none';

/** Reads the words; `null`: neither is written. */
export function readIdentityWords(
  { consumer, scope }: Readonly<Record<(typeof IDENTITY_WORDS)[number], ReadFilter | null>>,
  report: Report,
): IdentityWords | null {
  if (consumer === null && scope === null) return null;
  eachEntry(consumer, (found, path) => {
    const problem = judgeUsername(found);
    if (problem !== null)
      report.add('error', path, {
        ...problem,
        found: quoteValue(found),
        remedy: 'name a consumer, or `none`',
      });
  });
  eachEntry(scope, (found, path) => {
    if (SCOPE.test(found)) return;
    const message = 'must be a scope: visible ASCII characters without `"`, `\\` and blanks';
    report.add('error', path, { code: 'invalid_token', message, found: quoteValue(found) });
  });
  return { consumers: entriesOf(consumer), scopes: entriesOf(scope) };
}

function eachEntry(
  filter: ReadFilter | null,
  judge: (entry: string, path: ReadFilter['path']) => void,
): void {
  for (const entry of [...(filter?.wanted ?? []), ...(filter?.unwanted ?? [])]) judge(entry, filter!.path);
}

function entriesOf(filter: ReadFilter | null): NamedEntries {
  return { wanted: filter?.wanted ?? null, unwanted: filter?.unwanted ?? [] };
}
