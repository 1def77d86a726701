/**
 * Path templates of OpenAPI: `/pets/{id}`, `/files/{name}.json`, `/{from}-{to}`. In: a key of `paths`. Out: its shape, which is equal
 * for templates that match the same paths, or what is wrong with it.
 */
import { decodeEscapes, hasBadEscape } from '../../base/octets/octets.ts';
import { hasDotSegment } from '../../base/paths/path.ts';
import type { Problem } from '../model/report.ts';
import { MAX_TEMPLATE_CHARACTERS } from './limits.ts';

/** A template that was read: its shape with `{}` for every parameter, or its mistake. */
export type ReadTemplate = { readonly shape: string } | { readonly problem: Problem };

/** What RFC 6570 and API gateways write before or after the name of a parameter that takes more than one segment. */
const OPERATORS = /^[+#./;?&=,!@|]|[*+]$|:\d+$/;

/** Reads a template. */
export function readTemplate(path: string): ReadTemplate {
  const problem = wholeProblem(path);
  if (problem !== null) return { problem };
  let shape = '';
  let at = 0;
  while (at < path.length) {
    const open = path.indexOf('{', at);
    const literal = path.slice(at, open < 0 ? path.length : open);
    if (literal.includes('}')) return wrong('has a `}` without a `{` before it', 'remove it, or write `%7D`');
    if (open >= 0 && literal === '' && shape.endsWith('}')) {
      const message = 'has two parameters without a character between them, so where one ends is unknown';
      return wrong(message, 'write a character between them, such as `{from}-{to}`');
    }
    // A decoded brace would look like a parameter of the shape.
    shape += decodeEscapes(literal).replace(/[{}]/g, encodeURIComponent);
    if (open < 0) break;
    const close = path.indexOf('}', open);
    if (close < 0) return wrong('has a `{` without a `}` after it', 'close it, or write `%7B`');
    const mistake = nameProblem(path.slice(open + 1, close));
    if (mistake !== null) return { problem: mistake };
    shape += '{}';
    at = close + 1;
  }
  return { shape };
}

/** What is wrong with the path as a whole. */
function wholeProblem(path: string): Problem | null {
  if (path.length > MAX_TEMPLATE_CHARACTERS) {
    const message = `must be at most ${MAX_TEMPLATE_CHARACTERS} characters long`;
    return { code: 'openapi_path', message, found: `${path.length}` };
  }
  if (!path.startsWith('/'))
    return problemOf('must start with `/`', 'write the path below the address of `servers`');
  const braceless = path.replace(/\{[^{}]*\}/g, '');
  if (braceless.includes('?')) {
    const message = 'has a query, and a path is compared without one';
    return problemOf(message, 'end the path before the `?`, and describe the parameters in `parameters`');
  }
  if (braceless.includes('#')) {
    const message = 'has a fragment, which clients do not send';
    return problemOf(message, 'end the path before the `#`, and write one operation for each method');
  }
  if (/[\u0000-\u0020\u007f\\]/.test(braceless))
    return problemOf('has a control character, a blank or a backslash', 'percent-encode it');
  if (hasBadEscape(braceless)) return problemOf('has a `%` that is no percent-encoding', 'write `%25`');
  if (/%(?:2f|5c)/i.test(braceless)) {
    const message = 'has an encoded slash, which separates segments as `/` does';
    return problemOf(message, 'write `/`');
  }
  if (path.includes('//'))
    return problemOf('has an empty segment, which no compared path has', 'write one `/`');
  if (hasDotSegment(path))
    return problemOf('has a segment `.` or `..`, which no compared path has', 'write the path without it');
  return null;
}

/** What is wrong with the name between braces. */
function nameProblem(name: string): Problem | null {
  if (name === '') return problemOf('has a parameter without a name', 'write `{name}`');
  if (name.includes('{')) return problemOf('has a `{` inside of another', 'close the first before it');
  if (name.includes('/') || OPERATORS.test(name)) {
    const message = `has the parameter \`{${name.slice(0, 60)}}\`; a parameter takes one segment or a part of it`;
    return problemOf(message, 'write a parameter for each segment, or remove what is not its name');
  }
  return null;
}

function wrong(message: string, remedy: string): ReadTemplate {
  return { problem: problemOf(message, remedy) };
}

function problemOf(message: string, remedy: string): Problem {
  return { code: 'openapi_path', message, remedy };
}
