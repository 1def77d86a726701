/**
 * Checks the fields of a request line. The evaluator accepts any value in any field, so without this check a
 * misspelt field such as `contry` would be ignored.
 */
import { quoteValue } from '../../base/diagnostics/diagnostic.ts';
import type { EdgeRequest } from '../../engine/evaluator/request.ts';
import { isMapping } from '../../rules/files/yaml.ts';
import { nearest } from '../../rules/model/nearest.ts';

/** The expected value of a field. */
interface Shape {
  /** The expected value, to follow `must be` in a message. */
  readonly is: string;
  readonly accepts: (value: unknown) => boolean;
}

const isText = (value: unknown): boolean => typeof value === 'string';
const isTexts = (value: unknown): boolean => Array.isArray(value) && value.every(isText);

const TEXT: Shape = { is: 'text', accepts: isText };
const MAYBE_TEXT: Shape = { is: 'text or null', accepts: (value) => value === null || isText(value) };

/** The expected value of every field of a request. */
const SHAPES: Readonly<Record<keyof EdgeRequest, Shape>> = {
  scheme: TEXT,
  method: TEXT,
  host: { is: 'text, or a list of texts', accepts: (value) => isText(value) || isTexts(value) },
  target: TEXT,
  protocol: TEXT,
  port: {
    is: 'a port, 1 to 65535',
    accepts: (value) => Number.isInteger(value) && Number(value) > 0 && Number(value) < 65_536,
  },
  headers: {
    is: 'an object of lower-case names, each with a text or a list of texts',
    accepts: (value) => isMapping(value) && Object.values(value).every((one) => isText(one) || isTexts(one)),
  },
  ip: MAYBE_TEXT,
  country: MAYBE_TEXT,
  bot: { is: 'null, or an object like {"kind":"gptbot","verified":true}', accepts: isBot },
  ja4: MAYBE_TEXT,
  ja4h: MAYBE_TEXT,
  body: MAYBE_TEXT,
  bodyError: MAYBE_TEXT,
  now: { is: 'milliseconds since the epoch, a number', accepts: Number.isFinite },
  cleared: { is: 'a list of texts such as ["captcha/9"]', accepts: isTexts },
};
const NAMES = Object.keys(SHAPES) as readonly (keyof EdgeRequest)[];

/** `null`, or an object with `kind` and optionally `verified`. */
function isBot(value: unknown): boolean {
  if (value === null) return true;
  if (!isMapping(value) || Object.keys(value).some((key) => key !== 'kind' && key !== 'verified'))
    return false;
  return isText(value['kind']) && ['boolean', 'undefined'].includes(typeof value['verified']);
}

/** The first mistake in the fields of a line; `null` when there is none. An absent field is unknown. */
export function requestMistake(line: Readonly<Record<string, unknown>>): string | null {
  for (const name of Object.keys(line)) {
    const known = NAMES.find((one) => one === name);
    if (known === undefined) {
      const closest = nearest(name, NAMES);
      const remedy = closest === null ? `the fields are ${NAMES.join(', ')}` : `did you mean \`${closest}\`?`;
      return `${quoteValue(name)} is not a field of a request; ${remedy}`;
    }
    const { is, accepts } = SHAPES[known];
    if (!accepts(line[name])) return `\`${name}\` must be ${is}, found ${quoteValue(line[name])}`;
  }
  return null;
}
