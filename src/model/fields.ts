/** The building blocks of every schema: zod types whose refusals are written in our words. */
import { z } from 'zod';
import { COUNTRIES, meantCountry } from '../base/countries.ts';
import { parseIpEntry } from '../base/ip.ts';
import { MAX_ENTRY_CHARACTERS, MAX_ID, MAX_LIST_ENTRIES, MAX_PORT } from '../base/limits.ts';
import { utf8Length } from '../base/octets.ts';
import { documentField, shownAs } from './document.ts';
import type { Problem } from './report.ts';

/** A schema with one more condition; `judge` returns what is wrong with a value, or `null`. */
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

/** A schema that replaces its value; `read` returns the new value or what is wrong with the old one. */
export function converted<T>(
  read: (text: string) => { readonly value: T } | { readonly problem: Problem },
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
  return shownAs(schema, () => source);
}

/** A whole number within inclusive bounds. */
export function integer(least: number, most: number): z.ZodNumber {
  return checked(z.number(), (value) => {
    if (Number.isInteger(value) && value >= least && value <= most) return null;
    return { code: 'out_of_range', message: `must be a whole number from ${least} to ${most}` };
  }).meta({ type: 'integer', minimum: least, maximum: most });
}

/** The id of a rule, record or node. */
export function id(): z.ZodNumber {
  return integer(1, MAX_ID);
}

/** A port; the ones that may be left to the scheme add `.nullable()`. */
export function port(): z.ZodNumber {
  return integer(1, MAX_PORT);
}

/** Text within a number of characters that any database can hold: no NUL, no lone surrogates. */
export function text(most = MAX_ENTRY_CHARACTERS): z.ZodString {
  return checked(z.string(), (value) => {
    const characters = value.length > most ? charactersIn(value) : 0;
    if (characters <= most) return judgeEncoding(value);
    const found = `${characters} characters`;
    return { code: 'too_long', message: `must be at most ${most} characters`, found };
  }).meta({ maxLength: most });
}

/** Text of any length without what no database can hold. */
function judgeEncoding(value: string): Problem | null {
  if (value.includes('\0')) return { code: 'invalid_text', message: 'must not hold a NUL character' };
  if (!value.isWellFormed()) return { code: 'invalid_text', message: 'must be valid Unicode text' };
  return null;
}

/** Text with at least one character. */
export function filledText(most = MAX_ENTRY_CHARACTERS): z.ZodString {
  return checked(text(most), (value) => (value === '' ? EMPTY : null));
}

const EMPTY: Problem = { code: 'empty_value', message: 'must not be empty', found: null };

/** Characters of a text as people count them: code points. */
function charactersIn(value: string): number {
  let characters = 0;
  for (const _ of value) characters++;
  return characters;
}

/**
 * A list of at most `most` entries. The length is judged first and alone, so that a list of a million mistakes is one
 * mistake.
 */
export function list<T extends z.ZodType>(entry: T, most = MAX_LIST_ENTRIES): z.ZodType<z.output<T>[]> {
  const schema = z.array(z.unknown()).max(most).pipe(z.array(entry).max(most));
  // An update replaces a list whole, so the defaults of its entries apply.
  return shownAs(schema, (kind) =>
    z.array(documentField(entry, kind === 'answer' ? 'answer' : 'request')).max(most),
  ) as unknown as z.ZodType<z.output<T>[]>;
}

/** A list of texts, none of them empty. */
export function textList(most = MAX_LIST_ENTRIES): z.ZodType<string[]> {
  return list(filledText(), most);
}

/** `true` or `false`, with a default. */
export function flag(fallback: boolean): z.ZodDefault<z.ZodBoolean> {
  return z.boolean().default(fallback);
}

/** One address entry of a drop rule, brought to its canonical text. */
export function ipEntry(): z.ZodType<string, string> {
  return converted((value) => {
    const entry = parseIpEntry(value);
    return entry.ok ? { value: entry.canonical } : { problem: { code: 'invalid_ip', message: entry.reason } };
  });
}

/** An assigned ISO 3166-1 alpha-2 code, brought to upper case. */
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
  });
}

/** The country of an origin, a note that may be left empty. */
export function originCountry(): z.ZodDefault<z.ZodType<string, string>> {
  const assigned = country();
  return converted((value) => {
    if (value === '') return { value };
    const result = assigned.safeParse(value);
    return result.success ? { value: result.data } : { problem: UNASSIGNED };
  }).default('');
}

const UNASSIGNED: Problem = {
  code: 'unknown_country',
  message: 'must be an assigned ISO 3166-1 alpha-2 country code, or empty',
};

/** A page's text, bounded in UTF-8 octets. */
export function page(most: number): z.ZodString {
  return checked(z.string(), (value) => {
    const octets = utf8Length(value);
    if (octets <= most) return judgeEncoding(value);
    return { code: 'too_long', message: `must be at most ${most} octets`, found: `${octets} octets` };
  });
}
