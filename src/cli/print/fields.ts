/** Prints the field reference: a list of sections, the fields of one as a table, or one field in full. */
import type { JsonSchema } from '../../rules/files/test-schema.ts';
import {
  describeDefault,
  describeType,
  exampleText,
  type FieldEntry,
  type FieldSection,
  valueText,
} from '../../workbench/simulation/field-reference.ts';
import { paint } from '../../workbench/simulation/paint.ts';
import { hang, pad, type RenderedLine, span, wrap } from '../../workbench/simulation/render-text.ts';
import { tableText } from './table.ts';

/** Options of printing; `width` in columns, `Infinity` for lines that are not broken. */
export interface FieldsOptions {
  readonly colour: boolean;
  readonly width: number;
}

/** Columns between two columns of the table. */
const GAP = 2;
/** The widest column of names; a longer name takes a line of its own. */
const WIDEST_NAME = 24;

/** The sections, one line each. */
export function sectionsText(sections: readonly FieldSection[], { colour, width }: FieldsOptions): string {
  const widest = Math.max(...sections.map(({ name }) => name.length)) + GAP;
  const lines = sections.flatMap(({ name, summary }) =>
    hang([span(pad(name, widest), 'strong')], wrap([span(summary)], width - widest)),
  );
  return paint(lines, colour);
}

/** The fields of one section as a table: name, type with default and example, meaning. */
export function sectionText(section: FieldSection, options: FieldsOptions): string {
  const { colour, width } = options;
  const heading = [[span(section.name, 'strong'), span(`: ${section.summary}`)]];
  const head = paint([...heading.flatMap((line) => wrap(line, width)), []], colour);
  const common = commonNote(section);
  const note = common === null ? '' : paint([[], ...wrap([span(common, 'dim')], width)], colour);
  if (width === Number.POSITIVE_INFINITY) {
    const headings = ['FIELD', 'TYPE', 'DEFAULT', 'MEANING', 'EXAMPLE'];
    return head + tableText(headings, section.fields.map(cellsOf)) + note;
  }
  const widest = Math.max(...section.fields.map(({ name }) => name.length));
  const named = Math.min(WIDEST_NAME, widest);
  const middle = Math.floor((width - named - 2 * GAP) * 0.45);
  const columns = { named, middle, last: width - named - middle - 2 * GAP };
  return (
    head +
    paint(
      section.fields.flatMap((field) => rowOf(field, columns)),
      colour,
    ) +
    note
  );
}

/** The cells of a field in a table of whole lines. */
function cellsOf(field: FieldEntry): readonly string[] {
  const { name, schema } = field;
  return [name, describeType(schema), describeDefault(field), meaningOf(field), exampleText(field)];
}

/** Widths of the columns of a wrapped table. */
interface Columns {
  readonly named: number;
  readonly middle: number;
  readonly last: number;
}

/** The lines of one field in a wrapped table, all cells broken within their columns. */
function rowOf(field: FieldEntry, { named, middle, last }: Columns): readonly RenderedLine[] {
  const { name, schema } = field;
  const values = [
    ...wrap([span(describeType(schema))], middle),
    ...wrap([span(describeDefault(field), field.required ? 'warn' : 'dim')], middle),
    ...wrap([span(`e.g. ${exampleText(field)}`, 'dim')], middle),
  ];
  const meaning = wrap([span(meaningOf(field))], last);
  const isLong = name.length > named;
  const lines = Array.from({ length: Math.max(values.length, meaning.length) }, (_, index) => [
    span(pad(index === 0 && !isLong ? name : '', named + GAP), 'strong'),
    ...padded(values[index] ?? [], middle + GAP),
    ...(meaning[index] ?? []),
  ]);
  return isLong ? [[span(name, 'strong')], ...lines] : lines;
}

/** A line with blanks up to a width. */
function padded(line: RenderedLine, width: number): RenderedLine {
  const used = line.reduce((sum, { text }) => sum + text.length, 0);
  return [...line, span(' '.repeat(Math.max(0, width - used)))];
}

/** One field in full. */
export function fieldText(section: FieldSection, field: FieldEntry, options: FieldsOptions): string {
  const { colour, width } = options;
  const { schema } = field;
  const examples = (schema['examples'] ?? []) as readonly unknown[];
  const rows: readonly (readonly [string, string])[] = [
    ['in', `${section.name}: ${section.summary}`],
    ['meaning', meaningOf(field)],
    ['type', describeType(schema)],
    ['default', describeDefault(field).replace(/^default /, '')],
    ...examples.map((example): readonly [string, string] => ['example', writtenAs(field.name, example)]),
  ];
  const lines = rows.flatMap(([label, text]) =>
    hang([span(pad(`  ${label}`, 11), 'dim')], wrap([span(text)], width - 11)),
  );
  return paint([[span(field.name, 'strong')], ...lines], colour);
}

/** A field with a value as a line of a file. */
function writtenAs(name: string, value: unknown): string {
  return `${name.split('.').at(-1)}: ${valueText(value)}`;
}

/** The description of a field. */
function meaningOf({ schema }: FieldEntry): string {
  return String(schema['description']);
}

/** Where the other fields of a rule type are; `null` for other objects. */
export function commonNote({ common }: FieldSection): string | null {
  if (common === undefined) return null;
  return common === 'path'
    ? 'Every rule also has the fields of `edgeplan fields rule`: scope, hosts, paths, priority.'
    : 'Rules of this type also have the fields of `edgeplan fields rule`, but for those of paths.';
}

// The field reference as JSON, in the format `edgeplan.fields/v1`: names in snake_case, absent bounds left out.

/** Keywords of JSON Schema and their names in the document. */
const KEYWORDS: readonly (readonly [keyword: string, name: string])[] = [
  ['enum', 'one_of'],
  ['minimum', 'minimum'],
  ['maximum', 'maximum'],
  ['maxLength', 'max_characters'],
  ['maxItems', 'max_entries'],
  ['maxProperties', 'max_entries'],
  ['pattern', 'pattern'],
  ['format', 'format'],
  ['default', 'default'],
  ['deprecated', 'deprecated'],
];

/** Sections as JSON text that ends in a line feed. */
export function fieldsDocument(sections: readonly FieldSection[]): string {
  const types = sections.map(({ name, title, summary, fields, common }) => ({
    name,
    title,
    summary,
    // The fields of every rule are in the type `rule`; `hosts`: without the path filter.
    common_fields: common ?? null,
    fields: fields.map(fieldDocument),
  }));
  return `${JSON.stringify({ format: 'edgeplan.fields/v1', types }, null, 2)}\n`;
}

/** One field. */
function fieldDocument({ name, schema, required }: FieldEntry): object {
  return {
    name,
    type: describeType(schema),
    required,
    ...boundsOf(schema),
    description: schema['description'],
    examples: schema['examples'],
  };
}

/** The keywords that a schema has. */
function boundsOf(schema: JsonSchema): object {
  const present = KEYWORDS.filter(([keyword]) => schema[keyword] !== undefined);
  return Object.fromEntries(present.map(([keyword, name]) => [name, schema[keyword]]));
}
