/** Named lists and their entries as the API shows them. */
import { z } from 'zod';
import { timeText } from '../../../base/text/time.ts';
import {
  MAX_ENTRY_CHARACTERS,
  MAX_ENTRY_COMMENT_CHARACTERS,
  MAX_LIST_NAME_CHARACTERS,
  MAX_NAMED_ENTRIES,
} from '../../../base/vocabulary/limits.ts';
import { LIST_KINDS, REDIRECT_STATUSES } from '../../../base/vocabulary/vocabulary.ts';
import type { NamingRule } from '../../store/repositories/list-uses.ts';
import type { ListRow } from '../../store/tables/lists.ts';

const comment = z
  .string()
  .max(MAX_ENTRY_COMMENT_CHARACTERS)
  .optional()
  .describe('a remark, such as the number of a ticket');

/** An entry as it is answered. */
export const ENTRY = z.union([
  z.object({ value: z.string(), comment }),
  z.object({
    from: z.string().describe('a path'),
    to: z.string().describe('the target'),
    status: z.int().optional().describe('absent: that of the rule'),
    comment,
  }),
]);

/** An entry as it is written. */
const WRITTEN = z.union([
  z.string().max(MAX_ENTRY_CHARACTERS).describe('an entry without a comment'),
  z.int().describe('an autonomous system'),
  z.object({ value: z.string().max(MAX_ENTRY_CHARACTERS), comment }),
  z.object({
    from: z.string().max(MAX_ENTRY_CHARACTERS).describe('a path, exact'),
    to: z.string().describe('an absolute URL or a path, as in `target` of a redirect rule'),
    status: z.literal(REDIRECT_STATUSES).optional().describe('absent: that of the rule'),
    comment,
  }),
]);

const entries = z
  .array(WRITTEN)
  .max(MAX_NAMED_ENTRIES)
  .describe('of kind `redirect` objects with `from` and `to`; of two that match the same the last counts')
  .meta({ examples: [['198.51.100.0/24', { value: '203.0.113.7', comment: 'scanner' }]] });

/** The body of a change of entries. */
export const ENTRIES_BODY = z.object({ entries });

/** The body of a deletion of entries. */
export const KEYS_BODY = z.object({
  entries: z
    .array(z.union([WRITTEN, z.object({ from: z.string() })]))
    .max(MAX_NAMED_ENTRIES)
    .describe('the entries to remove, by what they match; comments do not count')
    .meta({ examples: [['198.51.100.0/24']] }),
});

/** The body of a new list. */
export const LIST_BODY = z.object({
  name: z
    .string()
    .max(MAX_LIST_NAME_CHARACTERS)
    .regex(/^[a-z0-9][a-z0-9_-]*$/)
    .describe('rules name the list by `@` and this name')
    .meta({ examples: ['scanners'] }),
  kind: z.enum(LIST_KINDS).describe('what the entries are; it never changes'),
  entries: entries.optional(),
});

/** A list without its entries. */
export const LIST = z
  .object({
    id: z.int(),
    domain_id: z.int().nullable().describe('`null`: a list of the account, for all of its domains'),
    name: z.string(),
    kind: z.enum(LIST_KINDS),
    entry_count: z.int().describe('how many entries it has'),
    octets: z.int().describe('of its compiled form, at most'),
    version: z.int().describe('rises with each change of the entries'),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
  })
  .meta({ id: 'List' });

/** A list with the rules that name it. */
export const USED_LIST = LIST.extend({
  used_by: z
    .array(z.object({ domain: z.string(), rule: z.string().describe('`<type>/<id>`') }))
    .describe('rules that name it, stored or published; the first of them'),
}).meta({ id: 'UsedList' });

/** A stored list in the form of the API. */
export function showList(row: ListRow): z.output<typeof LIST> {
  return {
    id: row.id,
    domain_id: row.domain_id,
    name: row.name,
    kind: row.kind,
    entry_count: row.entries,
    octets: row.octets,
    version: row.version,
    created_at: timeText(row.created_at),
    updated_at: timeText(row.updated_at),
  };
}

/** A rule that names a list. */
export function showUse({ domain, type, id }: NamingRule): {
  readonly domain: string;
  readonly rule: string;
} {
  return { domain, rule: `${type}/${id}` };
}
