/**
 * Path templates of operations (OpenAPI 3.1 §4.8.8, Paths Object): `/users/{id}/files/{name}.{type}`. In: the text of a template.
 * Out: its segments, literal text in canonical form (semantics §1.1), or what is wrong with it.
 */
import { decodeEscapes, hasBadEscape } from '../octets/octets.ts';

/**
 * A segment: the literal texts around its parameters, one more than they; a single text is a literal segment. A parameter matches
 * one character at least.
 */
export interface TemplateSegment {
  readonly texts: readonly string[];
  /** Names of the parameters, in their order. */
  readonly parameters: readonly string[];
}

/** The segments after the first slash; the last one is empty if the template ends with a slash. Or a predicate of the template. */
export type ParsedTemplate =
  | { readonly ok: true; readonly segments: readonly TemplateSegment[] }
  | { readonly ok: false; readonly message: string };

/** Splits a template. */
export function parseTemplate(template: string): ParsedTemplate {
  const refused = (message: string): ParsedTemplate => ({ ok: false, message });
  if (!template.startsWith('/')) return refused('must start with `/`');
  if (/[?#]/.test(template)) return refused('must hold no `?` or `#`: the query is no part of a path');
  if (hasBadEscape(template)) return refused('must not hold a bad percent escape');
  if (template === '/') return { ok: true, segments: [{ texts: [''], parameters: [] }] };
  const written = template.slice(1).split('/');
  const segments: TemplateSegment[] = [];
  for (const [index, text] of written.entries()) {
    const isLast = index === written.length - 1;
    if (text === '' && !isLast)
      return refused('could never match: empty segments are dropped from every path');
    const segment = parseSegment(text);
    if (typeof segment === 'string') return refused(segment);
    segments.push(segment);
  }
  return { ok: true, segments };
}

/** A segment, or what is wrong with it. */
function parseSegment(text: string): TemplateSegment | string {
  const texts: string[] = [];
  const parameters: string[] = [];
  let rest = text;
  for (let open = rest.indexOf('{'); open >= 0; open = rest.indexOf('{')) {
    const close = rest.indexOf('}', open);
    const name = close < 0 ? '' : rest.slice(open + 1, close);
    if (name === '' || name.includes('{')) return 'must name each parameter as `{name}`, inside one segment';
    if (open === 0 && parameters.length > 0) return 'must have text between two parameters of a segment';
    texts.push(rest.slice(0, open));
    parameters.push(name);
    rest = rest.slice(close + 1);
  }
  if (rest.includes('}')) return 'must name each parameter as `{name}`, inside one segment';
  texts.push(rest);
  const decoded = texts.map((one) => decodeEscapes(one));
  if (decoded.some((one) => /[/\\]/.test(one)))
    return 'must hold no escaped slash: it divides segments in every path';
  if (decoded.length === 1 && isResolved(decoded[0]!))
    return 'could never match: dot segments are resolved in every path';
  if (decoded.some((one) => one.includes(';')))
    return 'could never match: a path with `;` must lead to the same operation without what follows the `;`';
  return { texts: decoded, parameters };
}

/** Whether no canonical path has this segment: `.` or `..`, also before parameters (semantics §1.1). */
function isResolved(segment: string): boolean {
  const semicolon = segment.indexOf(';');
  const head = semicolon < 0 ? segment : segment.slice(0, semicolon);
  return head === '.' || head === '..' || (semicolon === 0 && segment !== '');
}

/** The segments without the names of parameters: equal for templates that match the same paths. */
export function templateShape(segments: readonly TemplateSegment[]): string {
  return segments.map(({ texts }) => texts.map((text) => JSON.stringify(text)).join('{}')).join('/');
}

/** Whether a segment of a path has the texts in their order, with a character at least between two of them. */
export function segmentMatches({ texts }: TemplateSegment, segment: string): boolean {
  const last = texts.length - 1;
  const [start, end] = [texts[0]!, texts[last]!];
  if (last === 0) return segment === start;
  const until = segment.length - end.length;
  if (!segment.startsWith(start) || until <= start.length || !segment.endsWith(end)) return false;
  // The first place of each text leaves the most for those after it.
  let at = start.length;
  for (let index = 1; index < last; index++) {
    const found = segment.indexOf(texts[index]!, at + 1);
    if (found < 0) return false;
    at = found + texts[index]!.length;
  }
  return at < until;
}
