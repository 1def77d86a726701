/**
 * The building blocks of every schema: zod types whose issues carry a `Problem`, a code and a message of this API; and
 * the schema of a field for documents (OpenAPI, JSON Schema). That schema comes from the one that reads the field, so
 * the document and the checks agree.
 */
import { z } from 'zod';
import { COUNTRIES, meantCountry } from '../../base/addresses/countries.ts';
import { parseIpEntry } from '../../base/addresses/ip.ts';
import { utf8Length } from '../../base/octets/octets.ts';
import { MAX_ENTRY_CHARACTERS, MAX_ID, MAX_LIST_ENTRIES, MAX_PORT } from '../../base/vocabulary/limits.ts';
import type { Fields } from './form.ts';
import { judgeListName, namesList } from './list-name.ts';
import type { Problem } from './report.ts';

/** Characters of a token (RFC 9110 §5.6.2), of which methods and names of headers consist. */
export const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

/** A scope (RFC 6749 §3.3): visible ASCII without `"` and `\`. */
export const SCOPE = /^[!#-[\]-~]+$/;

/** Adds a condition to a schema; `judge` returns the problem of a value, or `null` for a valid one. */
export function checked<T extends z.ZodType>(schema: T, judge: (value: z.output<T>) => Problem | null): T {
  return schema.check((context) => {
    const problem = judge(context.value as z.output<T>);
    if (problem === null) return;
    context.issues.push({
      code: 'custom',
      input: context.value,
      message: problem.message,
      params: { ...problem },
      path: [],
    });
  });
}

/**
 * A schema that converts a text; `read` returns the converted value, or the problem of the text. Documents show the
 * text with `shown`, the bounds that JSON Schema can state.
 */
export function converted<T>(
  read: (text: string) => { readonly value: T } | { readonly problem: Problem },
  shown: Readonly<Record<string, unknown>> = {},
): z.ZodType<T, string> {
  const source = text();
  const schema = source.transform((value, context) => {
    const result = read(value);
    if ('value' in result) return result.value;
    context.issues.push({
      code: 'custom',
      input: value,
      message: result.problem.message,
      params: { ...result.problem },
    });
    return z.NEVER;
  });
  return shownAs(schema, () => text().meta(shown));
}

/** A whole number within inclusive bounds. */
export function integer(least: number, most: number): z.ZodNumber {
  return checked(z.number(), (value) => {
    if (Number.isInteger(value) && value >= least && value <= most) return null;
    return { code: 'out_of_range', message: `must be a whole number from ${least} to ${most}` };
  }).meta({ type: 'integer', minimum: least, maximum: most });
}

/** The id of a rule, record or node: from 1 to `MAX_ID`. */
export function id(): z.ZodNumber {
  return integer(1, MAX_ID);
}

/** A TCP port, from 1 to 65535. A field whose port may follow from its scheme adds `.nullable()`. */
export function port(): z.ZodNumber {
  return integer(1, MAX_PORT);
}

/** Text of at most `most` code points that any database can store: no NUL, no lone surrogates. */
export function text(most = MAX_ENTRY_CHARACTERS): z.ZodString {
  return checked(z.string(), (value) => {
    const characters = value.length > most ? charactersIn(value) : 0;
    if (characters <= most) return judgeEncoding(value);
    const found = `${characters} characters`;
    return { code: 'too_long', message: `must be at most ${most} characters`, found };
  }).meta({ maxLength: most });
}

/**
 * The problem of a text with a NUL or a lone surrogate, which PostgreSQL cannot store as text; `null` for any other.
 */
function judgeEncoding(value: string): Problem | null {
  if (value.includes('\0')) return { code: 'invalid_text', message: 'must not hold a NUL character' };
  if (!value.isWellFormed()) return { code: 'invalid_text', message: 'must be valid Unicode text' };
  return null;
}

/** Text with at least one character. */
export function filledText(most = MAX_ENTRY_CHARACTERS): z.ZodString {
  return checked(text(most), (value) => (value === '' ? EMPTY : null));
}

/** The problem of an empty text; nothing is quoted. */
const EMPTY: Problem = { code: 'empty_value', message: 'must not be empty', found: null };

/** The number of code points in a text; a surrogate pair counts once. */
function charactersIn(value: string): number {
  let characters = 0;
  for (const _ of value) characters++;
  return characters;
}

/**
 * One word of a closed vocabulary, written in upper or lower case; converted to the spelling of the vocabulary, which
 * documents show.
 */
export function anyCase<const Word extends string>(words: readonly Word[]): z.ZodType<Word, Word> {
  const source = z.enum(words);
  const spelling = new Map(words.map((word) => [word.toLowerCase(), word]));
  const schema = z.preprocess(
    (value) => (typeof value === 'string' ? (spelling.get(value.toLowerCase()) ?? value) : value),
    source,
  );
  return shownAs(schema, () => source) as unknown as z.ZodType<Word, Word>;
}

/**
 * A list of at most `most` entries. The length is checked first, and a list that is too long is not read further, so
 * that a list of a million mistakes gives one diagnostic.
 */
export function list<T extends z.ZodType>(entry: T, most = MAX_LIST_ENTRIES): z.ZodType<z.output<T>[]> {
  const schema = z.array(z.unknown()).max(most).pipe(z.array(entry).max(most));
  // An update replaces a list whole, so the defaults of its entries apply.
  return shownAs(schema, (kind) =>
    z.array(documentField(entry, kind === 'answer' ? 'answer' : 'request')).max(most),
  ) as unknown as z.ZodType<z.output<T>[]>;
}

/** A list of non-empty texts. */
export function textList(most = MAX_LIST_ENTRIES): z.ZodType<string[]> {
  return list(filledText(), most);
}

/** `true` or `false`; `fallback` is the default. */
export function flag(fallback: boolean): z.ZodDefault<z.ZodBoolean> {
  return z.boolean().default(fallback);
}

/**
 * One address entry of a drop rule (address, CIDR prefix or range), converted to its canonical text (`parseIpEntry`).
 */
export function ipEntry(): z.ZodType<string, string> {
  return converted((value) => {
    const entry = parseIpEntry(value);
    return entry.ok ? { value: entry.canonical } : { problem: { code: 'invalid_ip', message: entry.reason } };
  });
}

/** An assigned ISO 3166-1 alpha-2 code, converted to upper case. */
export function country(): z.ZodType<string, string> {
  return converted((value) => {
    const code = value.toUpperCase();
    if (COUNTRIES.has(code)) return { value: code };
    const meant = meantCountry(code);
    const problem: Problem = {
      code: 'unknown_country',
      message: 'must be an assigned ISO 3166-1 alpha-2 country code',
      ...(meant === null ? {} : { remedy: `write \`${meant}\`` }),
    };
    return { problem };
  }, COUNTRY_SHAPE);
}

/** A country code as JSON Schema can state it. */
const COUNTRY_SHAPE = { maxLength: 2, pattern: '^[A-Za-z]{2}$' } as const;

/** An entry of a list that may also be the name of one (semantics §13), as `@name`, which is not converted. */
export function orListName(entry: z.ZodType<string, string>): z.ZodType<string, string> {
  return converted((value) => {
    if (namesList(value)) {
      const problem = judgeListName(value.slice(1));
      return problem === null ? { value } : { problem };
    }
    const read = entry.safeParse(value);
    if (read.success) return { value: read.data };
    const [issue] = read.error.issues;
    const { params } = issue as { readonly params?: Problem };
    return { problem: params ?? { code: 'invalid_value', message: issue!.message } };
  });
}

/**
 * One fingerprint: exact, or a prefix that ends in `*` (semantics §5). No fingerprint contains a star, so one elsewhere
 * never matches.
 */
export function fingerprintEntry(): z.ZodString {
  return checked(filledText(), (value) => {
    const star = value.indexOf('*');
    if (star < 0 || star === value.length - 1) return null;
    return { code: 'misplaced_star', message: 'may hold `*` only at its end, where it makes a prefix' };
  });
}

/** The country of an origin: an assigned code or empty, the default. It has no effect on requests. */
export function originCountry(): z.ZodDefault<z.ZodType<string, string>> {
  const assigned = country();
  return converted(
    (value) => {
      if (value === '') return { value };
      const result = assigned.safeParse(value);
      return result.success ? { value: result.data } : { problem: UNASSIGNED };
    },
    { maxLength: 2, pattern: '^([A-Za-z]{2})?$' },
  ).default('');
}

/** The problem of an origin's country that is neither assigned nor empty. */
const UNASSIGNED: Problem = {
  code: 'unknown_country',
  message: 'must be an assigned ISO 3166-1 alpha-2 country code, or empty',
};

/** A time as RFC 3339 §5.6 writes it, stored as sent. */
export function time(): z.ZodType<string, string> {
  return converted(
    (value) => {
      const shape = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)$/.test(value);
      if (shape && Number.isFinite(Date.parse(value.toUpperCase()))) return { value };
      const message = 'must be an RFC 3339 time, like `2030-01-31T12:00:00Z`';
      return { problem: { code: 'invalid_time', message } };
    },
    { format: 'date-time' },
  );
}

/** The text of a page, of at most `most` UTF-8 octets: nodes send octets, so the bound is not in characters. */
export function page(most: number): z.ZodString {
  return checked(z.string(), (value) => {
    const octets = utf8Length(value);
    if (octets <= most) return judgeEncoding(value);
    return { code: 'too_long', message: `must be at most ${most} octets`, found: `${octets} octets` };
    // A text of so many octets has no more characters.
  }).meta({ maxLength: most });
}

// Derives the schema of a field for documents (OpenAPI, JSON Schema): type, bounds, default, description and examples, without the
// conversions of a read. It comes from the schema that reads the field, so the document and the checks agree.

/**
 * How a document shows a field. `request`: with its default, which makes it optional. `update`: without a default, since
 * an absent field of an update stays unchanged. `answer`: always present.
 */
export type DocumentKind = 'request' | 'update' | 'answer';

/** Makes the schema that a document of a kind shows instead. */
type Substitute = (kind: DocumentKind) => z.ZodType;

/** Substitutes by schema, for schemas that documents cannot show: transforms and pipes. */
const SUBSTITUTES = new WeakMap<object, Substitute>();

/**
 * Sets the schema that documents show for one that converts its value or reads it in steps. Returns `schema` itself.
 */
export function shownAs<T extends z.ZodType>(schema: T, substitute: Substitute): T {
  SUBSTITUTES.set(schema, substitute);
  return schema;
}

/** The schema of one field for a document, with the description, the examples and the deprecation of the field. */
function documentField(field: z.ZodType, kind: DocumentKind): z.ZodType {
  const shown = withoutConversion(field, kind);
  const { description, deprecated, examples } = z.globalRegistry.get(field) ?? {};
  const meta = {
    ...(description === undefined ? {} : { description }),
    ...(deprecated ? { deprecated } : {}),
    ...(Array.isArray(examples) ? { examples: examplesOf(field, { examples, kind }) } : {}),
  };
  return Object.keys(meta).length === 0 ? shown : shown.meta({ ...z.globalRegistry.get(shown), ...meta });
}

/** The examples of a field are requests; an answer has the defaults of what they leave out. */
function examplesOf(
  field: z.ZodType,
  { examples, kind }: { readonly examples: readonly unknown[]; readonly kind: DocumentKind },
): unknown[] {
  const isWhole = (example: unknown): boolean => kind !== 'answer' || typeof example !== 'object';
  return examples.map((example) => (isWhole(example) ? example : field.parse(example)));
}

/** The schemas of an object's fields for a document. */
type DocumentFields<F extends Fields> = { readonly [K in keyof F]: z.ZodType<z.output<F[K]>> };

/** The schemas of an object's fields for a document, by name; in an update every field is optional. */
export function documentFields<F extends Fields>(fields: F, kind: DocumentKind): DocumentFields<F> {
  const entries = Object.entries(fields).map(([name, field]) => {
    const shown = documentField(field, kind);
    const isOptional = kind !== 'update' || shown.safeParse(undefined).success;
    return [name, isOptional ? shown : shown.optional()];
  });
  return Object.fromEntries(entries) as DocumentFields<F>;
}

/** The schema without conversions, at every level; optional, nullable and default wrappers are applied again. */
function withoutConversion(field: z.ZodType, kind: DocumentKind): z.ZodType {
  const substitute = substituteOf(field);
  if (substitute !== null) return substitute(kind);
  if (field instanceof z.ZodDefault || field instanceof z.ZodPrefault) {
    const inner = documentField(field.unwrap() as z.ZodType, kind);
    return kind === 'request' ? inner.default(field.def.defaultValue) : inner;
  }
  if (field instanceof z.ZodOptional) return documentField(field.unwrap() as z.ZodType, kind).optional();
  if (field instanceof z.ZodNullable) return documentField(field.unwrap() as z.ZodType, kind).nullable();
  if (field instanceof z.ZodObject) return z.object(documentFields(field.shape, kind));
  return field;
}

/** The substitute of a schema, or of the one that it refines: zod links a refined schema to its source. */
function substituteOf(field: z.ZodType): Substitute | null {
  for (let at: z.core.$ZodType | undefined = field; at !== undefined; at = at._zod.parent) {
    const substitute = SUBSTITUTES.get(at);
    if (substitute !== undefined) return substitute;
  }
  return null;
}
