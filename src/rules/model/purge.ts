/**
 * The forms of purges and refreshes of single responses. In: what a customer names. Out: one kind of values in their normal
 * form. Whether their hosts belong to the domain is checked apart (`foreignHosts`), since a form knows no domain.
 */
import type { Diagnostic } from '../../base/diagnostics/diagnostic.ts';
import {
  purgeHost,
  type ReadPurgeValue,
  readPurgePrefix,
  readPurgeTag,
  readPurgeUrl,
} from '../../base/paths/purge-values.ts';
import { MAX_ENTRY_CHARACTERS, MAX_PURGE_VALUES } from '../../base/vocabulary/limits.ts';
import { converted, list } from './fields.ts';
import { crossCheck, type FormValues, form } from './form.ts';
import type { Problem } from './report.ts';

/** The kinds of values, by the field that has them. */
const KINDS = { urls: 'url', prefixes: 'prefix', tags: 'tag' } as const;
type ValuesField = keyof typeof KINDS;
const FIELDS_OF_KINDS = Object.keys(KINDS) as readonly ValuesField[];

/** What is purged: values of one kind in their normal form. */
export interface PurgeRequest {
  readonly field: ValuesField;
  readonly kind: (typeof KINDS)[ValuesField];
  readonly values: readonly string[];
}

/** A value whose normal form fits the store. */
function value(read: (text: string) => ReadPurgeValue) {
  return converted((text) => {
    const result = read(text);
    if ('mistake' in result) return { problem: { code: 'invalid_value', message: result.mistake } };
    if (result.value.length <= MAX_ENTRY_CHARACTERS) return result;
    const found = `${result.value.length} characters`;
    const message = `must be at most ${MAX_ENTRY_CHARACTERS} characters, percent-encoded`;
    return { problem: { code: 'too_long', message, found } };
  });
}

const urls = list(value(readPurgeUrl), MAX_PURGE_VALUES);

const FIELDS = {
  urls: urls
    .optional()
    .describe('whole URLs; the parameters of the query that the cache rule ignores are left out')
    .meta({ examples: [['https://shop.example/assets/app.css?v=2']] }),
  prefixes: list(value(readPurgePrefix), MAX_PURGE_VALUES)
    .optional()
    .describe('hosts with the beginning of a path; a folder ends with `/`')
    .meta({ examples: [['shop.example/assets/']] }),
  tags: list(value(readPurgeTag), MAX_PURGE_VALUES)
    .optional()
    .describe("tags of the origin's `Cache-Tag` or `Surrogate-Key`, in any case of letters")
    .meta({ examples: [['product-17']] }),
};

const exactlyOne = crossCheck<FormValues<typeof FIELDS>>(FIELDS_OF_KINDS, (values, scope) => {
  const given = FIELDS_OF_KINDS.filter((name) => values[name] !== undefined);
  if (given.length !== 1) {
    const message = 'exactly one of `urls`, `prefixes` and `tags` is needed';
    const found = given.length === 0 ? 'none' : given.map((name) => `\`${name}\``).join(' and ');
    scope.error([], { code: given.length === 0 ? 'missing_field' : 'too_many', message, found });
  } else if (values[given[0]!]!.length === 0) scope.error([given[0]!], EMPTY);
});

const EMPTY: Problem = { code: 'empty_value', message: 'must not be empty', found: null };

/** The body of a purge. */
export const purgeForm = form({
  fields: FIELDS,
  ignored: [],
  checks: [{ ...exactlyOne, ofAbsence: true }],
  finish: (values): PurgeRequest => {
    const field = FIELDS_OF_KINDS.find((name) => values[name] !== undefined)!;
    return { field, kind: KINDS[field], values: values[field]! };
  },
});

const REFRESH_FIELDS = {
  urls: urls
    .describe('whole URLs, as of a purge')
    .meta({ examples: [['https://shop.example/assets/app.css?v=2']] }),
};

/** The body of a refresh. */
export const refreshForm = form({
  fields: REFRESH_FIELDS,
  ignored: [],
  checks: [
    crossCheck<FormValues<typeof REFRESH_FIELDS>>(['urls'], (values, scope) => {
      if (values.urls.length === 0) scope.error(['urls'], EMPTY);
    }),
  ],
  finish: ({ urls: values }): PurgeRequest => ({ field: 'urls', kind: 'url', values }),
});

/** The URLs and prefixes whose host is neither the domain's name nor below it. */
export function foreignHosts({ field, kind, values }: PurgeRequest, domain: string): readonly Diagnostic[] {
  if (kind === 'tag') return [];
  return values.flatMap((value, place): readonly Diagnostic[] => {
    const host = purgeHost(value);
    if (host === domain || host.endsWith(`.${domain}`)) return [];
    const message = `must be of a host of \`${domain}\``;
    return [{ code: 'invalid_host', severity: 'error', path: [field, place], message, found: `\`${host}\`` }];
  });
}
