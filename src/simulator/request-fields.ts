/**
 * What a line of requests may hold. The evaluator takes any value in any field and answers; a person who wrote `contry`
 * wants to hear of it instead.
 */

import { quoteValue } from '../base/diagnostic.ts';
import type { EdgeRequest } from '../evaluator/request.ts';
import { isMapping } from '../files/yaml.ts';
import { nearest } from '../model/nearest.ts';

interface Shape {
  /** What the value must be, as a sentence goes on after `must be`. */
  readonly is: string;
  readonly holds: (value: unknown) => boolean;
}

const isText = (value: unknown): boolean => typeof value === 'string';
const isTexts = (value: unknown): boolean => Array.isArray(value) && value.every(isText);

const TEXT: Shape = { is: 'text', holds: isText };
const MAYBE_TEXT: Shape = { is: 'text or null', holds: (value) => value === null || isText(value) };

const SHAPES: Readonly<Record<keyof EdgeRequest, Shape>> = {
  scheme: TEXT,
  method: TEXT,
  host: { is: 'text, or a list of texts', holds: (value) => isText(value) || isTexts(value) },
  target: TEXT,
  protocol: TEXT,
  port: {
    is: 'a port, 1 to 65535',
    holds: (value) => Number.isInteger(value) && Number(value) > 0 && Number(value) < 65_536,
  },
  headers: {
    is: 'an object of lower-case names, each with a text or a list of texts',
    holds: (value) => isMapping(value) && Object.values(value).every((one) => isText(one) || isTexts(one)),
  },
  ip: MAYBE_TEXT,
  country: MAYBE_TEXT,
  bot: { is: 'null, or an object like {"kind":"gptbot","verified":true}', holds: isBot },
  ja4: MAYBE_TEXT,
  ja4h: MAYBE_TEXT,
  body: MAYBE_TEXT,
  bodyError: MAYBE_TEXT,
  now: { is: 'milliseconds since the epoch, a number', holds: Number.isFinite },
  cleared: { is: 'a list of texts such as ["captcha/9"]', holds: isTexts },
};
const NAMES = Object.keys(SHAPES) as readonly (keyof EdgeRequest)[];

function isBot(value: unknown): boolean {
  if (value === null) return true;
  if (!isMapping(value) || Object.keys(value).some((key) => key !== 'kind' && key !== 'verified'))
    return false;
  return isText(value['kind']) && ['boolean', 'undefined'].includes(typeof value['verified']);
}

/** The first thing that is wrong with the fields of a line, or `null`. Fields may be absent: they are then unknown. */
export function requestMistake(line: Readonly<Record<string, unknown>>): string | null {
  for (const name of Object.keys(line)) {
    const known = NAMES.find((one) => one === name);
    if (known === undefined) {
      const meant = nearest(name, NAMES);
      const remedy = meant === null ? `the fields are ${NAMES.join(', ')}` : `did you mean \`${meant}\`?`;
      return `${quoteValue(name)} is not a field of a request; ${remedy}`;
    }
    const { is, holds } = SHAPES[known];
    if (!holds(line[name])) return `\`${name}\` must be ${is}, found ${quoteValue(line[name])}`;
  }
  return null;
}
