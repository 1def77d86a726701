/** Says in words which values a schema allows: its type, and its bounds. */
import { type Content, html, type Markup } from '../../base/text/html.ts';
import type { Json } from '../../base/text/json-object.ts';
import { referredName, type Schema } from './document.ts';

/** The type of a schema; named schemas are links to their fields. */
export function typeText(schema: Schema): Content {
  const { $ref, type, anyOf, allOf, items } = schema;
  if ($ref !== undefined) return schemaLink(referredName($ref));
  if (schema.const !== undefined) return valueCode(schema.const);
  if (anyOf !== undefined) return separated(anyOf.map(typeText), ' or ');
  if (allOf !== undefined) return separated(allOf.map(typeText), ' and ');
  if (type === undefined) return 'any value';
  const types = (typeof type === 'string' ? [type] : type).map((one) =>
    one === 'array' && items !== undefined ? ['list of ', entriesText(items)] : one,
  );
  return separated(types, ' or ');
}

/** The type of the entries of a list, in the plural where it is a word. */
function entriesText(items: Schema): Content {
  const text = typeText(items);
  return Array.isArray(text) && text.length === 1 && typeof text[0] === 'string' ? `${text[0]}s` : text;
}

/** A link to the fields of a named schema. */
export function schemaLink(name: string): Content {
  return html`<a class="schema" href="#${name}">${name}</a>`;
}

/** Contents with a text between each two. */
export function separated(contents: readonly Content[], between: string): Content {
  return contents.map((one, index) => (index === 0 ? one : [between, one]));
}

/** A value in code: texts without their quotes unless they are empty, everything else as JSON. */
export function valueCode(value: Json): Markup {
  return html`<code>${typeof value === 'string' && value !== '' ? value : JSON.stringify(value)}</code>`;
}

/** The bounds of a schema and of the entries of a list, each a short phrase. */
export function boundTexts(schema: Schema): readonly Content[] {
  const { minimum, maximum, minLength, maxLength, minItems, maxItems } = schema;
  const listed = schema.enum ?? schema.anyOf?.find((one) => one.enum !== undefined)?.enum;
  const phrases: readonly (Content | null)[] = [
    listed === undefined
      ? null
      : [listed.length === 1 ? 'always ' : 'one of ', separated(listed.map(valueCode), ', ')],
    range(minimum, maximum, ''),
    range(minLength, maxLength, ' characters'),
    range(minItems, maxItems, ' entries'),
    schema.format === undefined ? null : (FORMATS[schema.format] ?? schema.format),
    // The pattern of a format says the same again, in hundreds of characters.
    schema.pattern === undefined || schema.format !== undefined
      ? null
      : ['matches ', html`<code>${schema.pattern}</code>`],
  ];
  const own = phrases.filter((phrase) => phrase !== null);
  if (schema.items === undefined || schema.items.$ref !== undefined) return own;
  return [...own, ...boundTexts(schema.items).map((phrase) => ['each ', phrase])];
}

const FORMATS: Readonly<Record<string, string>> = { 'date-time': 'RFC 3339 time in UTC' };

function range(least: number | undefined, most: number | undefined, unit: string): string | null {
  const number = (value: number): string => value.toLocaleString('en');
  if (least !== undefined && most !== undefined) {
    return least === most ? `exactly ${number(least)}${unit}` : `${number(least)} to ${number(most)}${unit}`;
  }
  if (least !== undefined) return `at least ${number(least)}${unit}`;
  return most === undefined ? null : `at most ${number(most)}${unit}`;
}
