/** Prints planned changes: a heading per change, and its fields before and after. */
import { quantity, type RenderedLine, span, type Tone } from '../../workbench/simulation/render-text.ts';
import type { FieldChange } from './change.ts';
import type { ChangePlan, PlannedChange } from './plan-changes.ts';

/** The sign of each kind of change. */
const SIGNS = { create: '+', update: '~', delete: '-' } as const satisfies Record<
  PlannedChange['verb'],
  string
>;
/** The tone of each kind of change. */
const TONES = { create: 'good', update: 'warn', delete: 'bad' } as const satisfies Record<
  PlannedChange['verb'],
  Tone
>;

/** The kinds of objects, in the order in which they are counted. */
const NOUNS = [
  'domain',
  'list',
  'usage_plan',
  'consumer',
  'consumer_key',
  'token_issuer',
  'record',
  'rule',
] as const satisfies readonly PlannedChange['noun'][];

/** Characters of a value that are printed. */
const SHOWN = 200;

/** Prints all changes with their fields. */
export function changeLines({ changes }: ChangePlan): readonly RenderedLine[] {
  return changes.flatMap((change) => [headingOf(change), ...change.fields.flatMap(fieldLines)]);
}

/** `+ create rule drop office-only, edge.yaml:12`. */
export function headingOf({ verb, title }: Pick<PlannedChange, 'verb' | 'title'>): RenderedLine {
  return [span(`${SIGNS[verb]} ${verb} ${title}`, TONES[verb])];
}

/** `2 to create, 1 to update, 0 to delete`. */
export function countText(changes: readonly PlannedChange[]): string {
  const count = (verb: PlannedChange['verb']): string =>
    `${changes.filter((change) => change.verb === verb).length} to ${verb}`;
  return [count('create'), count('update'), count('delete')].join(', ');
}

/** `4000 records to create, 12 rules to update`: the number of each kind of change. */
export function nounText(changes: readonly PlannedChange[]): string {
  const kinds = Object.keys(SIGNS).flatMap((verb) =>
    NOUNS.map((noun) => ({
      count: changes.filter((change) => change.verb === verb && change.noun === noun).length,
      noun: noun.replace('_', ' '),
      verb,
    })),
  );
  const found = kinds.filter(({ count }) => count > 0);
  return found.map(({ count, noun, verb }) => `${quantity(count, noun)} to ${verb}`).join(', ');
}

/** A field before and after; for lists, the removed and added entries. */
export function fieldLines(field: FieldChange): readonly RenderedLine[] {
  const { name, before, after } = field;
  const lists = Array.isArray(before) && Array.isArray(after) ? listLines(before, after) : null;
  if (lists !== null) return [[span(`    ${name}:`)], ...lists];
  if (!('before' in field)) return [[span(`    ${name}: `), span(valueText(after), 'good')]];
  if (!('after' in field)) return [[span(`    ${name}: `), span(valueText(before), 'bad')]];
  return [
    [
      span(`    ${name}: `),
      span(valueText(before), 'bad'),
      span(' → ', 'dim'),
      span(valueText(after), 'good'),
    ],
  ];
}

/** The removed and added entries; `null` if the lists differ in order only. */
function listLines(before: readonly unknown[], after: readonly unknown[]): readonly RenderedLine[] | null {
  const had = new Set(before.map((entry) => JSON.stringify(entry)));
  const has = new Set(after.map((entry) => JSON.stringify(entry)));
  const removed = before.filter((entry) => !has.has(JSON.stringify(entry)));
  const added = after.filter((entry) => !had.has(JSON.stringify(entry)));
  if (removed.length + added.length === 0) return null;
  return [
    ...removed.map((entry): RenderedLine => [span(`      - ${valueText(entry)}`, 'bad')]),
    ...added.map((entry): RenderedLine => [span(`      + ${valueText(entry)}`, 'good')]),
  ];
}

/** A value as text, cut to `SHOWN` characters. */
function valueText(value: unknown): string {
  const text = plainText(value);
  return text.length > SHOWN ? `${text.slice(0, SHOWN - 1)}…` : text;
}

/** Text without quotes, a list of scalars in brackets, anything else as JSON. */
function plainText(value: unknown): string {
  if (typeof value === 'string' && value !== '') return value;
  const plain = Array.isArray(value) && value.every((entry) => typeof entry !== 'object');
  return plain ? `[${value.join(', ')}]` : JSON.stringify(value);
}
