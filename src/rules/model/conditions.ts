/**
 * The form of `conditions`, which every rule type has: what else must hold of a request for the rule to match (semantics
 * §12). In: the field as written. Out: its stored shape. Members that are not written stay absent, and a field without
 * members is no field, so that a rule without conditions is stored as it was before there were any.
 */
import { z } from 'zod';
import { isAsn } from '../../base/addresses/asn.ts';
import type { FieldPath } from '../../base/diagnostics/diagnostic.ts';
import { comparisonOf } from '../../base/vocabulary/condition-ops.ts';
import {
  MAX_ASN,
  MAX_CONDITION_VALUES,
  MAX_COUNTRIES,
  MAX_IPS,
  MAX_METHOD_CHARACTERS,
  MAX_VALUE_CONDITIONS,
  MAX_VALUE_NAME_CHARACTERS,
} from '../../base/vocabulary/limits.ts';
import {
  BOT_KINDS,
  CONDITION_OPS,
  ORIGIN_SCHEMES,
  VALUE_MEMBERS,
  type ValueComparison,
  type ValueMember,
} from '../../base/vocabulary/vocabulary.ts';
import {
  checked,
  converted,
  country,
  filledText,
  fingerprintEntry,
  flag,
  integer,
  ipEntry,
  list,
  orListName,
  shownAs,
  TOKEN,
  text,
} from './fields.ts';
import type { FormScope, Stored } from './form.ts';
import { judgeListName, namesList } from './list-name.ts';
import type { Problem } from './report.ts';
import { warnHostBits } from './text-checks.ts';

/** A list that is left out or has entries: people differ on whether an empty one means "any" or "none". */
function filled<Entry>(entries: z.ZodType<Entry[]>): z.ZodType<Entry[]> {
  return checked(entries, (values) => ((values as readonly unknown[]).length > 0 ? null : EMPTY_LIST));
}

const EMPTY_LIST: Problem = {
  code: 'too_few',
  message: 'must not be empty',
  remedy: 'list an entry, or leave the field out',
};

/** A member with `includes` and `excludes`, of which an object that is written has at least one. */
function inclusion<Entry>(
  entries: () => z.ZodType<Entry[]>,
  what: string,
  example: readonly Entry[],
): z.ZodOptional<z.ZodType<{ includes?: Entry[] | undefined; excludes?: Entry[] | undefined }>> {
  const member = z.strictObject({
    includes: filled(entries())
      .optional()
      .describe(`${what} that the rule applies to`)
      .meta({ examples: [example] }),
    excludes: filled(entries())
      .optional()
      .describe(`${what} that the rule does not apply to; they win over \`includes\``)
      .meta({ examples: [example] }),
  });
  return checked(member, ({ includes, excludes }) =>
    includes === undefined && excludes === undefined ? NO_LIST : null,
  ).optional();
}

const NO_LIST: Problem = {
  code: 'missing_field',
  message: 'must have `includes` or `excludes`',
  remedy: 'list an entry, or leave the field out',
};

/** A method (RFC 9110 §9.1). */
export const method = checked(filledText(MAX_METHOD_CHARACTERS), (value) =>
  TOKEN.test(value)
    ? null
    : { code: 'invalid_token', message: 'must be a method: letters, digits and marks, without blanks' },
);

/** A text with wildcards, or the name of a list. */
const userAgent = checked(filledText(), (value) => (namesList(value) ? judgeListName(value.slice(1)) : null));

/** The number of an autonomous system, or the name of a list. */
const asnEntry: z.ZodType<number | string, number | string> = shownAs(
  checked(z.unknown(), (value) => {
    if (typeof value === 'string' && namesList(value)) return judgeListName(value.slice(1));
    if (isAsn(value)) return null;
    if (typeof value !== 'number') return { code: 'invalid_type', message: 'must be a whole number' };
    return {
      code: 'out_of_range',
      message: `must be a whole number from 1 to ${MAX_ASN}, or \`@name\` of a list`,
    };
  }) as z.ZodType<number | string, number | string>,
  () => z.union([integer(1, MAX_ASN), z.string().meta({ pattern: '^@[a-z0-9][a-z0-9_-]*$' })]),
);

const headerName = converted(
  (value) => {
    const name = value.toLowerCase();
    if (name === 'host') {
      const remedy = 'list hosts in `host_includes`';
      return { problem: { code: 'invalid_token', message: 'is no header of conditions', remedy } };
    }
    const problem = judgeHeaderName(name);
    return problem === null ? { value: name } : { problem };
  },
  { minLength: 1, maxLength: MAX_VALUE_NAME_CHARACTERS },
);

/** The problem of a name of a header; `null`: it is one. */
export function judgeHeaderName(name: string): Problem | null {
  if (TOKEN.test(name) && name.length <= MAX_VALUE_NAME_CHARACTERS) return null;
  const message = `must be a name of a header, of at most ${MAX_VALUE_NAME_CHARACTERS} letters, digits and marks`;
  return { code: 'invalid_token', message };
}

const cookieName = checked(filledText(MAX_VALUE_NAME_CHARACTERS), judgeCookieName);

/** The problem of a name of a cookie. RFC 6265 §4.1.1 has a token; browsers send other names too, but none with these. */
export function judgeCookieName(name: string): Problem | null {
  return /[\u0000-\u0020\u007f;=]/.test(name)
    ? { code: 'invalid_token', message: 'must be a name of a cookie, without blanks, `;` and `=`' }
    : null;
}

/** The fields of one condition on a header, a query parameter or a cookie. */
function valueFields<Name extends z.ZodType>(
  name: Name,
  { what, example }: { readonly what: string; readonly example: string },
) {
  return {
    name: name.describe(what).meta({ examples: [example] }),
    op: z
      .enum(CONDITION_OPS)
      .describe(
        '`present`, `absent`, or a comparison with `values`: `equals`, `prefix`, `suffix`, `contains`, `wildcard` (`*` is any run of characters), `regex` (RE2 syntax, unanchored). With `not_` before it: no value compares so, also without any value',
      )
      .meta({ examples: ['equals'] }),
    values: list(text(), MAX_CONDITION_VALUES)
      .default([])
      .describe('what the value is compared with; one of them suffices')
      .meta({ examples: [['1', 'true']] }),
    ignore_case: flag(false)
      .describe('whether letters compare without case')
      .meta({ examples: [true] }),
  };
}

/** The fields of a condition, by the member that lists it. */
const VALUE_FIELDS = {
  headers: valueFields(headerName, { what: 'name of the header, in any case', example: 'x-api-version' }),
  query: valueFields(filledText(MAX_VALUE_NAME_CHARACTERS), {
    what: 'name of the parameter, not percent-encoded',
    example: 'debug',
  }),
  cookies: valueFields(cookieName, { what: 'name of the cookie', example: 'session' }),
};

/** A condition on a header, a query parameter or a cookie, as it is stored. */
export type ValueCondition = Stored<(typeof VALUE_FIELDS)['query']>;

/** The members of `conditions`. */
const MEMBERS = {
  methods: filled(list(method, 20))
    .optional()
    .describe('methods that the rule applies to; case counts')
    .meta({ examples: [['POST', 'PUT']] }),
  except_methods: filled(list(method, 20))
    .optional()
    .describe('methods that the rule does not apply to, all others being meant; they win over `methods`')
    .meta({ examples: [['GET', 'HEAD']] }),
  schemes: filled(list(z.enum(ORIGIN_SCHEMES), 2))
    .optional()
    .describe('schemes of the request')
    .meta({ examples: [['http']] }),
  ips: inclusion(
    () => list(orListName(ipEntry()), MAX_IPS),
    'addresses, CIDR prefixes, ranges and names of lists (`@name`)',
    ['203.0.113.0/24'],
  )
    .describe('addresses of visitors; an unknown one is in neither list')
    .meta({ examples: [{ excludes: ['203.0.113.0/24'] }] }),
  countries: inclusion(
    () => list(orListName(country()), MAX_COUNTRIES),
    'ISO 3166-1 alpha-2 codes and names of lists (`@name`)',
    ['DE', 'AT'],
  )
    .describe('countries of visitors; an unknown one is in neither list')
    .meta({ examples: [{ includes: ['DE', 'AT'] }] }),
  asns: inclusion(() => list(asnEntry), 'numbers of autonomous systems and names of lists (`@name`)', [64496])
    .describe("autonomous systems of visitors' addresses; an unknown one is in neither list")
    .meta({ examples: [{ includes: [64496] }] }),
  bot_kinds: inclusion(
    () => list(z.enum(['*', ...BOT_KINDS])),
    'kinds of bots, `*` for every classified bot,',
    ['gptbot'],
  )
    .describe('kinds of bots; a visitor that is no classified bot is in neither list')
    .meta({ examples: [{ excludes: ['*'] }] }),
  verified_bot: z
    .boolean()
    .optional()
    .describe('`true`: only bots whose identity was verified; `false`: everybody else')
    .meta({ examples: [false] }),
  ja4: inclusion(() => list(fingerprintEntry()), 'JA4 fingerprints, exact or a prefix that ends in `*`,', [
    't13d1516h2_*',
  ])
    .describe('fingerprints of the TLS ClientHello; an unknown one is in neither list')
    .meta({ examples: [{ includes: ['t13d1516h2_*'] }] }),
  user_agents: inclusion(
    () => list(userAgent),
    'wildcards over the User-Agent, without regard to case, and names of lists (`@name`),',
    ['*curl*'],
  )
    .describe('User-Agents; an absent one is in neither list')
    .meta({ examples: [{ includes: ['*curl*', 'python-requests/*'] }] }),
  tags: inclusion(
    () => list(filledText(), 50),
    'tagging rules of earlier phases, as `<type>/<id>` or by key,',
    ['bot_route/7'],
  )
    .describe('tags that `fingerprint` and `bot_route` rules of earlier phases gave the request')
    .meta({ examples: [{ includes: ['bot_route/7'] }] }),
  headers: valueList('headers')
    .describe('conditions on headers, all of which must hold; each line of a repeated header counts')
    .meta({ examples: [[{ name: 'x-api-version', op: 'equals', values: ['1'] }]] }),
  query: valueList('query')
    .describe(
      'conditions on query parameters, all of which must hold; percent-decoded once, each occurrence counts',
    )
    .meta({ examples: [[{ name: 'debug', op: 'present' }]] }),
  cookies: valueList('cookies')
    .describe('conditions on cookies, all of which must hold; each occurrence counts')
    .meta({ examples: [[{ name: 'session', op: 'absent' }]] }),
};

function valueList(member: ValueMember): z.ZodOptional<z.ZodType<ValueCondition[]>> {
  const entry = z.strictObject(VALUE_FIELDS[member]) as unknown as z.ZodType<ValueCondition>;
  return filled(list(entry, MAX_VALUE_CONDITIONS)).optional();
}

/** The conditions of a rule as they are stored: every member must hold. Absent members ask nothing. */
export type Conditions = Stored<typeof MEMBERS>;

/** Names of fields inside `conditions`, by the path of the object that has them. */
export const CONDITION_NAMES: Readonly<Record<string, readonly string[]>> = {
  conditions: Object.keys(MEMBERS),
  ...Object.fromEntries(
    (['ips', 'countries', 'asns', 'bot_kinds', 'ja4', 'user_agents', 'tags'] as const).map((name) => [
      `conditions.${name}`,
      ['includes', 'excludes'],
    ]),
  ),
  ...Object.fromEntries(VALUE_MEMBERS.map((name) => [`conditions.${name}`, Object.keys(VALUE_FIELDS[name])])),
};

/** The field. */
export const CONDITIONS_FIELD = z
  .strictObject(MEMBERS)
  .optional()
  .describe('what else must hold of a request: all members, and inside a member any entry; default: nothing')
  .meta({ examples: [{ methods: ['POST'], headers: [{ name: 'authorization', op: 'absent' }] }] });

/** The field as it is stored: absent without members. */
export function storedConditions(written: Conditions | undefined): { readonly conditions?: Conditions } {
  return hasConditions(written) ? { conditions: written! } : {};
}

/** Whether the field asks something. */
export function hasConditions(written: object | undefined): boolean {
  return written !== undefined && Object.values(written).some((member) => member !== undefined);
}

/** The address entries of a rule: of its own list, which drop rules have, and of its conditions. */
export function addressesOf({
  ips = [],
  conditions,
}: {
  readonly ips?: readonly string[];
  readonly conditions?: Conditions | undefined;
}): number {
  const { includes = [], excludes = [] } = conditions?.ips ?? {};
  return ips.length + includes.length + excludes.length;
}

/** A regex of a condition, and the value that it reads, such as `headers accept`. */
export interface ConditionRegex {
  readonly source: string;
  readonly ignoreCase: boolean;
  readonly of: string;
}

/** The regexes of conditions, with the path of each below `conditions`. */
export function regexesOf(
  conditions: Conditions,
): readonly (ConditionRegex & { readonly path: FieldPath })[] {
  return VALUE_MEMBERS.flatMap((member) =>
    (conditions[member] ?? []).flatMap(({ name, op, values, ignore_case }, index) =>
      comparisonOf(op)?.comparison === 'regex'
        ? values.map((source, place) => ({
            source,
            ignoreCase: ignore_case,
            of: `${member} ${name}`,
            path: [member, index, 'values', place],
          }))
        : [],
    ),
  );
}

/** Methods that servers know (RFC 9110 §9, RFC 5789), all in capital letters. */
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'CONNECT', 'OPTIONS', 'TRACE', 'PATCH'];

/** Warns of an ordinary method in small letters. */
export function warnMethodCase(name: string, path: FieldPath, scope: FormScope): void {
  const upper = name.toUpperCase();
  if (name === upper || !METHODS.includes(upper)) return;
  const message = 'matches no ordinary request: the case of methods counts';
  scope.warn(path, { code: 'method_case', message, found: `\`${name}\``, remedy: `write \`${upper}\`` });
}

/** Checks what lies across the fields of conditions. Paths are relative to the rule. */
export function checkConditions(conditions: Conditions, scope: FormScope): void {
  for (const member of ['methods', 'except_methods'] as const)
    for (const [index, name] of (conditions[member] ?? []).entries())
      warnMethodCase(name, ['conditions', member, index], scope);
  const counted = VALUE_MEMBERS.flatMap((member) => conditions[member] ?? []).length;
  if (counted > MAX_VALUE_CONDITIONS) {
    const message = `must have at most ${MAX_VALUE_CONDITIONS} conditions on headers, query parameters and cookies together`;
    scope.error(['conditions'], { code: 'too_many', message, found: String(counted) });
  }
  for (const member of VALUE_MEMBERS) {
    for (const [index, condition] of (conditions[member] ?? []).entries()) {
      if (scope.full()) return;
      checkValues(condition, member, ['conditions', member, index], scope);
    }
  }
  for (const { path, source, ignoreCase, of } of regexesOf(conditions)) {
    if (scope.full()) return;
    if (source === '') continue;
    const problem = judgeRegex(source, { ignoreCase, of }, scope);
    if (problem !== null) scope.error(['conditions', ...path], problem);
  }
}

/** Warns about prefixes with host bits. The conditions are as they were written. */
export function checkWrittenConditions({ ips }: Pick<Conditions, 'ips'>, scope: FormScope): void {
  for (const name of ['includes', 'excludes'] as const)
    warnHostBits(ips?.[name] ?? [], ['conditions', 'ips', name], scope);
}

function judgeRegex(
  source: string,
  subject: { readonly ignoreCase: boolean; readonly of: string },
  { patterns }: FormScope,
): Problem | null {
  const use = patterns.check(source, subject);
  if (use.ok === true || use.ok === 'skipped') return null;
  if (use.ok === false) return { code: 'invalid_pattern', message: use.reason };
  const remedy = 'use `prefix`, `contains` or `wildcard`, or start patterns with `^` and literal text';
  return { code: 'pattern_budget', message: use.reason, remedy };
}

/** Checks that `values` and `op` agree, and that each value can be met. */
function checkValues(
  { op, values }: ValueCondition,
  member: ValueMember,
  path: FieldPath,
  scope: FormScope,
): void {
  const compared = comparisonOf(op);
  if (compared === null) {
    if (values.length === 0) return;
    const message = `must be left out while \`op\` is \`${op}\``;
    const remedy = `write \`${op === 'present' ? 'equals' : 'not_equals'}\` to compare`;
    scope.error([...path, 'values'], { code: 'condition_values', message, found: null, remedy });
    return;
  }
  if (values.length === 0) {
    const message = `must list at least one value while \`op\` is \`${op}\``;
    scope.error([...path, 'values'], { code: 'condition_values', message, found: null });
  }
  for (const [index, value] of values.entries()) {
    const problem = judgeValue(value, compared.comparison, member);
    if (problem !== null) scope.error([...path, 'values', index], problem);
  }
}

/** Headers and cookies are octets, which conditions read as Latin-1: a character beyond it is in none (semantics §12). */
function judgeValue(value: string, comparison: ValueComparison, member: ValueMember): Problem | null {
  if (value === '' && comparison !== 'equals') {
    return {
      code: 'empty_value',
      message: `must not be empty under \`${comparison}\``,
      found: null,
      remedy: 'use `present` for any value, `equals` for an empty one',
    };
  }
  if (member === 'query' || comparison === 'regex' || /^[\u0000-\u00ff]*$/.test(value)) return null;
  return {
    code: 'beyond_latin1',
    message: 'could never match: a header is read as octets, and a character beyond `ÿ` is none',
    remedy: 'write the octets of its UTF-8 form in a `regex`, such as `\\xE2\\x82\\xAC` for `€`',
  };
}
