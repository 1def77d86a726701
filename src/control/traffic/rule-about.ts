/**
 * A short text by which people recognise a rule in a list. In: the stored fields of a rule. Out: its first filters, such
 * as `/admin/* +2 · 3 addresses`; empty for a rule without filters.
 */
import { MAX_ABOUT_CHARACTERS } from './limits.ts';

/** Fields of lists whose first entry is shown, in order; paths say most about a rule. */
const SHOWN = ['path_includes', 'host_includes', 'countries', 'bot_kinds', 'match_ja4', 'codes'] as const;
/** Fields of lists whose entries are counted, with their nouns for one and for several. */
const COUNTED = [
  ['ips', 'address', 'addresses'],
  ['origins', 'origin', 'origins'],
] as const;

/** The text, at most `MAX_ABOUT_CHARACTERS` long. */
export function ruleAbout(body: Readonly<Record<string, unknown>>): string {
  const shown = SHOWN.flatMap((field) => {
    const list = listOf(body[field]);
    // The default of a path filter says nothing.
    if (list.length === 0 || (list.length === 1 && list[0] === '/*')) return [];
    const first = `${field === 'countries' ? allBut(body['country_match_type']) : ''}${String(list[0])}`;
    return [list.length === 1 ? first : `${first} +${list.length - 1}`];
  });
  const counted = COUNTED.flatMap(([field, one, several]) => {
    const { length } = listOf(body[field]);
    const all = field === 'ips' ? allBut(body['ip_match_type']) : '';
    return length === 0 ? [] : [`${all}${length} ${length === 1 ? one : several}`];
  });
  const text = [...shown, ...counted].join(' · ');
  const characters = [...text];
  return characters.length <= MAX_ABOUT_CHARACTERS
    ? text
    : `${characters.slice(0, MAX_ABOUT_CHARACTERS - 1).join('')}…`;
}

/** The words before a list whose entries are excluded. */
function allBut(matchType: unknown): string {
  return matchType === 'exclude' ? 'all but ' : '';
}

/** A list, or an empty one for any other value. */
function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
