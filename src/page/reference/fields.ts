/**
 * Renders the fields of a schema, nested ones included, each with an anchor of its own and the values that it allows in
 * words.
 */
import { type Content, html, type Markup } from '../../base/text/html.ts';
import type { Json } from '../../base/text/json-object.ts';
import { referredName, type Schema } from './document.ts';
import { inline } from './markup.ts';

/** A row of the reference: a field, a parameter or a header. */
export interface Row {
  /** The anchor. */
  readonly id: string;
  readonly name: string;
  readonly schema: Schema;
  readonly required: boolean;
  /** Replaces the schema's own description. */
  readonly description?: string | undefined;
}

/** Rows as a definition list. */
export function rows(list: readonly Row[]): Markup {
  return html`<dl class="fields">${list.map(row)}</dl>`;
}

/** The fields of a schema, or its type where it has none. */
export function fieldsOf(schema: Schema, id: string): Markup {
  const inner = innerFields(schema, id);
  return inner ?? html`<p class="only">${facts(schema)}${inline(schema.description ?? '')}</p>`;
}

/** The fields of an object or of the entries of a list; `null` where there are none to name. */
function innerFields(schema: Schema, id: string): Markup | null {
  const { properties, items, anyOf, allOf, additionalProperties } = schema;
  if (properties !== undefined && Object.keys(properties).length > 0) {
    const required = new Set(schema.required ?? []);
    return rows(
      Object.entries(properties).map(([name, field]) => ({
        id: `${id}.${name}`,
        name,
        schema: field,
        required: required.has(name),
      })),
    );
  }
  if (items !== undefined) return innerFields(items, id);
  const variants = (anyOf ?? []).flatMap((part) => variantOf(part) ?? []);
  if (variants.length > 1) return html`${variants.map((variant) => variantFields(variant, id))}`;
  const joined = (allOf ?? []).flatMap((part) => innerFields(part, id) ?? []);
  const shapes = (anyOf ?? []).filter((part) => innerFields(part, id) !== null);
  // Shapes may share names of fields: all but the first have their number in the anchors, and one with shapes of its own has it too.
  const numbered = shapes.map((part, index) => {
    const isNumbered = index > 0 || (shapes.length > 1 && part.properties === undefined);
    return innerFields(part, isNumbered ? `${id}.${index + 1}` : id);
  });
  if (joined.length + numbered.length > 0) return html`${joined}${numbered}`;
  if (typeof additionalProperties === 'object' && Object.keys(additionalProperties).length > 0) {
    const name = 'any name';
    return rows([{ id: `${id}.any`, name, schema: additionalProperties, required: false }]);
  }
  return null;
}

/** One of several shapes of an object. */
interface Variant {
  /** The value that only this shape has, of the first field with a constant. */
  readonly value: string;
  readonly schema: Schema;
}

/** A shape of a union with the constant that identifies it; `null`: no field of it has a constant. */
function variantOf(schema: Schema): Variant | null {
  const constants = Object.values(schema.properties ?? {}).map((field) => field.const);
  const value = constants.find((constant) => typeof constant === 'string');
  return typeof value === 'string' ? { value, schema } : null;
}

/** The fields of a shape, in a part that is closed at first; its anchors have the value of the shape. */
function variantFields({ value, schema }: Variant, id: string): Markup {
  const about = schema.description === undefined ? null : html` ${inline(schema.description)}`;
  return html`<details class="answer"><summary><code>${value}</code>${about}</summary>${innerFields(schema, `${id}.${value}`)}</details>
`;
}

function row({ id, name, schema, required, description = schema.description ?? '' }: Row): Markup {
  const marks = [
    required ? html`<span class="mark required">required</span>` : null,
    schema.deprecated === true ? html`<span class="mark">deprecated</span>` : null,
  ];
  const text = schema.deprecated === true ? description.replace(/^deprecated: /, '') : description;
  const inner = innerFields(schema, id);
  return html`<div class="field" id="${id}"><dt><a class="name" href="#${id}"><code>${name}</code></a> ${marks} ${facts(schema)}</dt>
<dd>${text === '' ? null : html`<p>${inline(text)}</p>`}${inner === null ? null : html`<div class="inner">${inner}</div>`}</dd></div>
`;
}

/** Type, bounds, default and example. */
function facts(schema: Schema): Content {
  const value = (label: string, of: Json | undefined): Content =>
    of === undefined ? null : [label, valueCode(of)];
  const texts = [
    ...boundTexts(schema),
    value('default ', schema.default),
    value('for example ', schema.example),
  ].filter((text) => text !== null);
  return html`<span class="type">${typeText(schema)}</span>${
    texts.length === 0 ? null : html`<span class="bounds">${separated(texts, '; ')}</span>`
  }`;
}

// Says in words which values a schema allows: its type, and its bounds.

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
function separated(contents: readonly Content[], between: string): Content {
  return contents.map((one, index) => (index === 0 ? one : [between, one]));
}

/** A value in code: texts without their quotes unless they are empty, everything else as JSON. */
function valueCode(value: Json): Markup {
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
