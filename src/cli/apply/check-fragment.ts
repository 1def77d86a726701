/**
 * Checks a fragment against a server: it has objects of the server by their ids, so that `apply` changes these alone, creates
 * none and deletes none.
 */
import { inputFault, usageFault } from '../exit.ts';
import type { RemoteDomain } from '../remote/remote-domain.ts';
import type { DesiredState } from './desired-state.ts';

/** Absent objects that one message names. */
const MOST_NAMED = 10;

/** @throws CommandFault where the server has not every object of the fragment, or where the rest would be deleted */
export function checkFragment(
  { records, rules, sources }: DesiredState,
  remote: RemoteDomain,
  { prune }: { readonly prune: boolean },
): void {
  if (prune) {
    const message = `\`${sources.file}\` is a fragment, and --prune would delete the rest of the domain`;
    throw usageFault(message, 'apply the fragment without --prune');
  }
  const stored = new Set([
    ...remote.records.map(({ id }) => `record ${id}`),
    ...remote.rules.map(({ type, id }) => `rule ${type}/${id}`),
  ]);
  const wanted = [
    ...records.map(({ id }) => `record ${id}`),
    ...rules.map(({ type, id }) => `rule ${type}/${id}`),
  ];
  const absent = wanted.filter((title) => !stored.has(title));
  if (absent.length === 0) return;
  const more = absent.length > MOST_NAMED ? ` and ${absent.length - MOST_NAMED} more` : '';
  const named = absent.slice(0, MOST_NAMED).join(', ');
  throw inputFault(`the server has no ${named}${more}, which the fragment is to change`, {
    remedy: 'nothing was changed; print the fragment again',
  });
}
