/** The form of `error_page` rules, which choose the page that visitors see for listed status codes (semantics §5). */
import { z } from 'zod';
import { utf8Length } from '../../../base/octets/octets.ts';
import {
  MAX_ERROR_CODE,
  MAX_PAGE_OCTETS,
  MAX_PAGES_OCTETS,
  MIN_ERROR_CODE,
} from '../../../base/vocabulary/limits.ts';
import { ERROR_PAGE_MODES } from '../../../base/vocabulary/vocabulary.ts';
import { pathRule, type RuleOf } from '../common.ts';
import { checked, integer, list, page, shownAs } from '../fields.ts';
import { crossCheck, type FormValues } from '../form.ts';

/** The allowed codes, in the words of messages. */
const CODES = `a status code from ${MIN_ERROR_CODE} to ${MAX_ERROR_CODE}`;

/** Pages of one rule: one for each code, and the fallback. */
const MAX_PAGES = MAX_ERROR_CODE - MIN_ERROR_CODE + 2;

/** Pages by status code; reports each invalid key at its own path. */
const keyed = z.record(z.string(), page(MAX_PAGE_OCTETS)).check((context) => {
  for (const key of Object.keys(context.value)) {
    if (key === '0' || /^[45][0-9][0-9]$/.test(key)) continue;
    const message = `must be keyed by ${CODES}, or by 0 for the fallback`;
    const params = { code: 'invalid_key', message, found: null };
    context.issues.push({ code: 'custom', input: context.value, message, params, path: [key] });
  }
});

/**
 * Checks only the number of pages, before `keyed` reads them, so that a hundred thousand mistakes give one diagnostic.
 */
const counted = checked(z.record(z.string(), z.unknown()), (pages) => {
  const count = Object.keys(pages).length;
  return count <= MAX_PAGES
    ? null
    : { code: 'too_many', message: `must have at most ${MAX_PAGES} entries`, found: `${count}` };
});
/** The pages, in both steps; documents show a map of texts. */
const content = shownAs(counted.pipe(keyed), () =>
  z
    .record(
      z
        .string()
        .regex(/^(?:0|[45][0-9][0-9])$/)
        .describe(`${CODES}, or 0 for the fallback`),
      page(MAX_PAGE_OCTETS).describe('the page'),
    )
    .meta({ maxProperties: MAX_PAGES }),
);

/** The fields that only this type has. */
const FIELDS = {
  mode: z
    .enum(ERROR_PAGE_MODES)
    .default('svc')
    .describe("`svc` shows the service's page, `custom` one of `content`, `origin` the origin's own")
    .meta({ examples: ['custom'] }),
  codes: list(integer(MIN_ERROR_CODE, MAX_ERROR_CODE))
    .describe('status codes that the rule applies to')
    .meta({ examples: [[502, 503, 504]] }),
  content: content
    .default({})
    .describe('HTML by status code, `0` for the fallback, under `mode: custom`')
    .meta({ examples: [{ '502': '<h1>Back in a minute</h1>', '0': '<h1>Something went wrong</h1>' }] }),
};
/** The values of the own fields after their defaults. */
type OwnValues = FormValues<typeof FIELDS>;

/** Checks the sum of all pages in UTF-8 octets. */
const size = crossCheck<Pick<OwnValues, 'content'>>(['content'], (values, scope) => {
  let octets = 0;
  for (const html of Object.values(values.content)) octets += utf8Length(html);
  if (octets <= MAX_PAGES_OCTETS) return;
  const message = `must be at most ${MAX_PAGES_OCTETS} octets in all`;
  scope.error(['content'], { code: 'too_long', message, found: `${octets} octets` });
});

/** Reports a rule without codes, and warns about a code that no page and no fallback covers. */
const inert = crossCheck<OwnValues>(
  ['mode', 'codes', 'content'],
  ({ mode, codes, content: pages }, scope) => {
    if (codes.length === 0) {
      scope.refuse(['codes'], { code: 'too_few', message: 'must not be empty', remedy: `list ${CODES}` });
    }
    const blank = codes.find((code) => !Object.hasOwn(pages, code) && !Object.hasOwn(pages, '0'));
    if (mode !== 'custom' || blank === undefined) return;
    const message = `has no page for ${blank} and no fallback \`0\`, so visitors get the service's own page`;
    scope.warn(['content'], { code: 'no_page', message });
  },
);

/** The form of the type; answers also carry the codes and sizes of the stored pages. */
export const errorPageForm = pathRule({
  type: 'error_page',
  summary: 'Answer errors with pages of your own',
  example: { codes: [502, 503], content: { '502': '<h1>Back in a minute</h1>' } },
  fields: FIELDS,
  answered: ['content_codes', 'content_bytes'],
  checks: [size, inert],
});

/** A stored rule of the type. */
export type ErrorPageRule = RuleOf<typeof errorPageForm>;
