/** The form of `rate_limit` rules, which count requests per key over a sliding window (semantics §5, §14). */
import { z } from 'zod';
import {
  MAX_COUNT_STATUSES,
  MAX_ERROR_CODE,
  MAX_RATE_COUNT,
  MAX_RATE_PARTS,
  MAX_VALUE_NAME_CHARACTERS,
  MAX_WINDOW_SEC,
  MIN_ERROR_CODE,
} from '../../../base/vocabulary/limits.ts';
import {
  BREACH_ACTIONS,
  RATE_KEYS,
  RATE_PART_FACTS,
  RATE_PART_SOURCES,
} from '../../../base/vocabulary/vocabulary.ts';
import { pathRule, type RuleOf } from '../common.ts';
import { judgeCookieName, judgeHeaderName } from '../conditions.ts';
import { checked, converted, integer, list } from '../fields.ts';
import { crossCheck, type FormValues } from '../form.ts';
import type { Problem } from '../report.ts';

/** The parts of a key, in the words of messages. */
const PARTS_TEXT = [...RATE_PART_FACTS, ...RATE_PART_SOURCES.map((source) => `${source}:<name>`)]
  .map((part) => `\`${part}\``)
  .join(', ');

/** A part as JSON Schema can state it. */
const PART_SHAPE = {
  pattern: `^(?:${RATE_PART_FACTS.join('|')}|(?:${RATE_PART_SOURCES.join('|')}):.+)$`,
  maxLength: MAX_VALUE_NAME_CHARACTERS + 'header:'.length,
} as const;

/** One part of a key; the name of a header is converted to lower case. */
const part = converted((value) => {
  const mark = value.indexOf(':');
  const source = RATE_PART_SOURCES.find((one) => one === value.slice(0, mark));
  if (source === undefined) {
    if ((RATE_PART_FACTS as readonly string[]).includes(value)) return { value };
    return { problem: { code: 'invalid_value', message: `must be one of ${PARTS_TEXT}` } };
  }
  const written = value.slice(mark + 1);
  const name = source === 'header' ? written.toLowerCase() : written;
  const problem = judgeName(source, name);
  return problem === null ? { value: `${source}:${name}` } : { problem };
}, PART_SHAPE);

function judgeName(source: (typeof RATE_PART_SOURCES)[number], name: string): Problem | null {
  if (name === '') {
    const message = `must have the name of the ${source === 'query' ? 'parameter' : source} after \`${source}:\``;
    return { code: 'empty_value', message };
  }
  if (name.length > MAX_VALUE_NAME_CHARACTERS) {
    const message = `must have a name of at most ${MAX_VALUE_NAME_CHARACTERS} characters after \`${source}:\``;
    return { code: 'too_long', message, found: `${name.length} characters` };
  }
  if (source === 'query') return null;
  if (source === 'cookie') return judgeCookieName(name);
  if (name !== 'host') return judgeHeaderName(name);
  const remedy = 'write a rule for each host, with `host_includes`';
  return { code: 'invalid_token', message: 'is no header of keys: `Host` is the host', remedy };
}

/** The problem of a list with an entry twice; `null`: it has none. */
function judgeDistinct(entries: readonly (string | number)[]): Problem | null {
  const again = entries.find((entry, index) => entries.indexOf(entry) !== index);
  if (again === undefined) return null;
  const message = `must not list \`${again}\` twice`;
  return { code: 'duplicate_entry', message, found: null, remedy: `list \`${again}\` once` };
}

/** The fields that only this type has. */
const FIELDS = {
  limit: integer(1, MAX_RATE_COUNT)
    .describe('requests allowed per window and key')
    .meta({ examples: [100] }),
  window_sec: integer(1, MAX_WINDOW_SEC)
    .default(60)
    .describe('length of the sliding window in seconds')
    .meta({ examples: [10] }),
  key_by: z
    .enum(RATE_KEYS)
    .default('ip')
    .describe('`ip`: one count per address (IPv6: per /64); `ip_path`: one per address and canonical path')
    .meta({ examples: ['ip_path'] }),
  key_parts: checked(list(part, MAX_RATE_PARTS), judgeDistinct)
    .optional()
    .describe(
      'what a count is for, in place of `key_by`: `ip` (IPv6: per /64), `path`, `country`, `asn`, `ja4`, `header:<name>`, `cookie:<name>`, `query:<name>`; of a repeated value the first, an absent one is the empty text. An empty list: as `key_by` says',
    )
    .meta({ examples: [['ip', 'header:x-api-key']] }),
  count_statuses: checked(list(integer(MIN_ERROR_CODE, MAX_ERROR_CODE), MAX_COUNT_STATUSES), judgeDistinct)
    .optional()
    .describe(
      'statuses of responses that count, made by the origin or by the edge; a request is judged when it comes and counts when its response has one of them. Default, and an empty list: every request counts',
    )
    .meta({ examples: [[401, 403]] }),
  headers: z
    .boolean()
    .optional()
    .describe(
      'whether forwarded responses have the fields `RateLimit` and `RateLimit-Policy`, as the answers above the limit do; default: they do not',
    )
    .meta({ examples: [true] }),
  on_breach: z
    .enum(BREACH_ACTIONS)
    .default('drop')
    .describe('what happens above the limit: `drop` answers 429 with `Retry-After`, `captcha` challenges')
    .meta({ examples: ['captcha'] }),
  burst: integer(0, MAX_RATE_COUNT)
    .default(0)
    .describe('requests tolerated above `limit` in a window')
    .meta({ examples: [20] }),
};
/** The values of the own fields after their defaults. */
type OwnValues = FormValues<typeof FIELDS>;

/** Warns about a `key_by` that `key_parts` replaces. */
const key = crossCheck<Pick<OwnValues, 'key_by' | 'key_parts'>>(
  ['key_by', 'key_parts'],
  ({ key_by, key_parts = [] }, scope) => {
    if (key_parts.length === 0 || key_by === 'ip') return;
    const message = 'has no effect beside `key_parts` and is left out';
    const remedy = 'list `ip` and `path` in `key_parts` to count each path of an address';
    scope.warn(['key_by'], { code: 'unused_field', message, remedy });
  },
);

/** The form of the type; a `key_by` without effect is stored as its default, an empty list and `headers: false` are not stored. */
export const rateLimitForm = pathRule({
  type: 'rate_limit',
  summary: 'Count requests for each address, and refuse or challenge what is above the limit',
  example: { path_includes: ['/api/*'], limit: 100, window_sec: 60, key_by: 'ip' },
  fields: FIELDS,
  checks: [key],
  unused: ({ key_parts = [], count_statuses = [], headers }) => ({
    ...(key_parts.length === 0 ? { key_parts: undefined } : { key_by: 'ip' as const }),
    ...(count_statuses.length === 0 ? { count_statuses: undefined } : {}),
    ...(headers === true ? {} : { headers: undefined }),
  }),
});

/** A stored rule of the type. */
export type RateLimitRule = RuleOf<typeof rateLimitForm>;
