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
import {
  MAX_EVERY_MIN,
  MAX_FEED_PATH_CHARACTERS,
  MAX_HEADER_CHARACTERS,
  MIN_EVERY_MIN,
} from '../../lists/feed/limits.ts';
import {
  FEED_ERRORS,
  FEED_FORMATS,
  type ListFeedState,
  settingsOf,
  stateOf,
} from '../../lists/feed/settings.ts';
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

const COMMON_FEED = {
  url: z.url().describe('http or https; where `auth_header` is sent, https'),
  format: z.enum(FEED_FORMATS).describe('`text`: an entry a line, comments after `#` and `;`'),
  path: z
    .string()
    .max(MAX_FEED_PATH_CHARACTERS)
    .optional()
    .describe(
      'of `csv` a column, by its name or its number from 1; of `json` the names that lead to the values, with dots between them and `*` for all, such as `prefixes.*.ip_prefix`',
    ),
  every_min: z.int().min(MIN_EVERY_MIN).max(MAX_EVERY_MIN).describe('minutes between two fetches'),
};

/** A feed as it is written. */
export const FEED_BODY = z
  .object({
    ...COMMON_FEED,
    auth_header: z
      .union([z.string().max(MAX_HEADER_CHARACTERS), z.boolean()])
      .optional()
      .describe(
        'sent as `Authorization` to the origin of `url`; `true`: that of the feed before, of the same origin',
      ),
  })
  .meta({ examples: [{ url: 'https://lists.example.net/scanners.txt', format: 'text', every_min: 60 }] });

const FEED = z
  .object({
    ...COMMON_FEED,
    auth_header: z.boolean().describe('whether a header is sent; it is never answered'),
  })
  .meta({ id: 'ListFeed' });

const FEED_STATE = z
  .object({
    attempted_at: z.iso.datetime().nullable().describe('the last fetch'),
    succeeded_at: z.iso.datetime().nullable().describe('the last fetch whose content is in force'),
    next_at: z.iso.datetime().describe('the next fetch, at the earliest'),
    failures: z.int().describe('fetches since then that changed nothing'),
    etag: z.string().optional().describe('of the content in force'),
    error: z
      .object({ code: z.enum(FEED_ERRORS), reason: z.string(), at: z.iso.datetime() })
      .nullable()
      .describe('why the last fetch changed nothing; `null`: it succeeded, or there was none'),
  })
  .meta({ id: 'ListFeedState' });

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
  feed: FEED_BODY.optional(),
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
    feed: FEED.optional().describe(
      'where the entries are read from; absent: they are written through the API',
    ),
    feed_state: FEED_STATE.optional(),
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
    ...(row.feed === null ? {} : { feed: settingsOf(row.feed) }),
    ...(row.feed_state === null ? {} : { feed_state: showState(stateOf(row.feed_state)) }),
    created_at: timeText(row.created_at),
    updated_at: timeText(row.updated_at),
  };
}

function showState({
  attempted_at,
  succeeded_at,
  next_at,
  failures,
  etag,
  error,
}: ListFeedState): z.output<typeof FEED_STATE> {
  return {
    attempted_at: attempted_at === null ? null : timeText(attempted_at),
    succeeded_at: succeeded_at === null ? null : timeText(succeeded_at),
    next_at: timeText(next_at),
    failures,
    ...(etag === undefined ? {} : { etag }),
    error: error === undefined ? null : { ...error, at: timeText(error.at) },
  };
}

/** A rule that names a list. */
export function showUse({ domain, type, id }: NamingRule): {
  readonly domain: string;
  readonly rule: string;
} {
  return { domain, rule: `${type}/${id}` };
}
