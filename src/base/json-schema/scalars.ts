/** Checks of scalar steps: those that compare a value with nothing below it. */
import { type SchemaCheck, type SchemaRun, spend, wrong } from './comparison.ts';
import { compareNumbers, type Decimal, isInteger, isMultipleOf } from './decimal.ts';
import { exactOf, isList, isMap, type SchemaStep, VALUE_KINDS, valueKey } from './program.ts';
import type { JsonValue } from './read-value.ts';

/** Steps that compare a value with nothing below it, at a cost that its length bounds. */
const SCALAR: ReadonlySet<string> = new Set([
  ...['never', 'type', 'minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf', 'pattern'],
  ...['minLength', 'maxLength', 'minItems', 'maxItems', 'minProperties', 'maxProperties', 'enum'],
]);

/** Whether a step is scalar. */
export function isScalar([keyword]: SchemaStep): boolean {
  return SCALAR.has(keyword);
}

/** PERF: accepts a text or a number that is within its limits at first sight, and leaves any other value to `every`. */
export function withinCheck(steps: readonly SchemaStep[], every: SchemaCheck): SchemaCheck {
  const limit = (keyword: SchemaStep[0], preset: number): number => {
    const found = steps.find(([one]) => one === keyword)?.[1];
    return typeof found === 'number' ? found : preset;
  };
  const hasOnly = (...keywords: SchemaStep[0][]): boolean => steps.every(([one]) => keywords.includes(one));
  const mask = limit('type', 0);
  if (mask === STRING && hasOnly('type', 'minLength', 'maxLength')) {
    // A code point has one or two units.
    const least = 2 * limit('minLength', 0);
    const most = limit('maxLength', Number.POSITIVE_INFINITY);
    return (value, run) =>
      (typeof value === 'string' && value.length >= least && value.length <= most) || every(value, run);
  }
  if ((mask === NUMBER || mask === INTEGER) && hasOnly('type', 'minimum', 'maximum')) {
    const least = limit('minimum', Number.NEGATIVE_INFINITY);
    const most = limit('maximum', Number.POSITIVE_INFINITY);
    return (value, run) =>
      (typeof value === 'number' &&
        value >= least &&
        value <= most &&
        (mask === NUMBER || Number.isInteger(value))) ||
      every(value, run);
  }
  return every;
}

const [BOOLEAN, STRING, NUMBER, INTEGER] = [1 << 1, 1 << 2, 1 << 3, 1 << 4];
/** The bit of objects in VALUE_KINDS. */
export const OBJECT: number = 1 << 6;

/** A check of `type`. */
export function typeCheck(mask: number): SchemaCheck {
  const kinds = VALUE_KINDS.filter((_, bit) => (mask & (1 << bit)) !== 0);
  const detail = `must be ${kinds.join(' or ')}`;
  // PERF: most schemas name one kind.
  if (mask === STRING) return (value, run) => typeof value === 'string' || wrong(run, detail);
  if (mask === BOOLEAN) return (value, run) => typeof value === 'boolean' || wrong(run, detail);
  if (mask === NUMBER)
    return (value, run) => typeof value === 'number' || isNumber(value) || wrong(run, detail);
  if (mask === INTEGER)
    return (value, run) =>
      (typeof value === 'number' ? Number.isInteger(value) : isNumber(value) && isInteger(value)) ||
      wrong(run, detail);
  return (value, run) => (kindOf(value) & mask) !== 0 || wrong(run, detail);
}

/** The bits of a value, by VALUE_KINDS. */
export function kindOf(value: JsonValue): number {
  if (typeof value === 'string') return STRING;
  if (isNumber(value)) return isInteger(value) ? NUMBER | INTEGER : NUMBER;
  if (value === null) return 1;
  if (typeof value === 'boolean') return BOOLEAN;
  return isMap(value) ? OBJECT : 1 << 5;
}

function isNumber(value: JsonValue): value is number | Decimal {
  if (typeof value === 'number') return true;
  return typeof value === 'object' && value !== null && !isMap(value) && !isList(value);
}

/** A check of `enum`, by the keys of its values. */
export function enumCheck(keys: ReadonlySet<string>): SchemaCheck {
  // PERF: the keys of texts are made once.
  const texts = [...keys].flatMap((key) => (key.startsWith('"') ? [JSON.parse(key) as string] : []));
  const hasText = membership(texts);
  const hasLists = [...keys].some((key) => key.startsWith('['));
  const hasObjects = [...keys].some((key) => key.startsWith('{'));
  return (value, run) => {
    if (typeof value === 'string') return hasText(value) || wrong(run, LISTED);
    // Without this, each of several schemas would make a key of all of the body.
    const isPossible = isMap(value) ? hasObjects : isList(value) ? hasLists : true;
    return (isPossible && run.steps >= 0 && keys.has(keyIn(value, run))) || wrong(run, LISTED);
  };
}

/** Texts up to which a comparison with each is faster than a hash of the value. */
const FEW_TEXTS = 8;

function membership(texts: readonly string[]): (text: string) => boolean {
  if (texts.length <= FEW_TEXTS) return (text) => texts.includes(text);
  const set = new Set(texts);
  return (text) => set.has(text);
}

const LISTED = 'must be a value that the schema lists';

/** The key of a value; its steps are counted. */
export function keyIn(value: JsonValue, run: SchemaRun): string {
  return valueKey(value, (steps) => {
    run.steps -= steps;
  });
}

type NumberKeyword = 'minimum' | 'maximum' | 'exclusiveMinimum' | 'exclusiveMaximum' | 'multipleOf';

/** What each keyword demands. */
const LIMITS: Readonly<Record<Exclude<NumberKeyword, 'multipleOf'>, string>> = {
  minimum: 'at least',
  maximum: 'at most',
  exclusiveMinimum: 'greater than',
  exclusiveMaximum: 'less than',
};

/** Steps for arithmetic without rounding. */
function decimalSteps(value: number | Decimal): number {
  return 8 + (typeof value === 'number' ? 0 : value.length >> 4);
}

/** A check of a number with a limit. */
export function numberCheck(keyword: NumberKeyword, written: number): SchemaCheck {
  const limit = exactOf(written);
  if (keyword === 'multipleOf') {
    const detail = `must be a multiple of ${written}`;
    const isWhole = Number.isSafeInteger(limit);
    return (value, run) => {
      if (!isNumber(value)) return true;
      const steps = isWhole && Number.isSafeInteger(value) ? 0 : decimalSteps(value);
      return (spend(run, steps) && isMultipleOf(value, limit)) || wrong(run, detail);
    };
  }
  const detail = `must be ${LIMITS[keyword]} ${written}`;
  const sign = keyword === 'minimum' || keyword === 'exclusiveMinimum' ? 1 : -1;
  const isStrict = keyword.startsWith('exclusive');
  return (value, run) => {
    if (!isNumber(value)) return true;
    // PERF: nearly all numbers and limits are short.
    const isShort = typeof value === 'number' && typeof limit === 'number';
    if (!isShort && !spend(run, decimalSteps(value))) return false;
    const order = sign * compareNumbers(value, limit);
    return order > 0 || (order === 0 && !isStrict) || wrong(run, detail);
  };
}

const UNITS = { Length: 'characters', Items: 'items', Properties: 'members' } as const;

/** A check of a count of characters, items or members. */
export function countCheck(keyword: string, limit: number): SchemaCheck {
  const isLeast = keyword.startsWith('min');
  const of = keyword.slice(3) as keyof typeof UNITS;
  const detail = `must have at ${isLeast ? 'least' : 'most'} ${limit} ${UNITS[of]}`;
  const isWithin = (count: number): boolean => (isLeast ? count >= limit : count <= limit);
  switch (of) {
    case 'Length':
      return (value, run) => {
        if (typeof value !== 'string') return true;
        return (spend(run, value.length >> 4) && hasLength(value, limit, isLeast)) || wrong(run, detail);
      };
    case 'Items':
      return (value, run) => !isList(value) || isWithin(value.length) || wrong(run, detail);
    default:
      return (value, run) => !isMap(value) || isWithin(value.size) || wrong(run, detail);
  }
}

/** Whether a text has at least, or at most, so many code points. */
function hasLength(text: string, limit: number, isLeast: boolean): boolean {
  const { length } = text;
  // A code point has one or two units, and most texts are far from the limit.
  if (isLeast ? length < limit : length > 2 * limit) return false;
  if (isLeast ? length >= 2 * limit : length <= limit) return true;
  const count = characters(text);
  return isLeast ? count >= limit : count <= limit;
}

/** The code points of a text without lone surrogates. */
function characters(text: string): number {
  let count = text.length;
  for (let at = 0; at < text.length; at++) if ((text.charCodeAt(at) & 0xfc00) === 0xdc00) count--;
  return count;
}
