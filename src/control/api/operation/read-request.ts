/**
 * Reads what a request consists of: its path by the patterns of the route table, independent of Fastify's router, with
 * the ids in its segments; its query parameters; its JSON body. Writes the link of a page of a list to the next one.
 */
import { z } from 'zod';
import { type Diagnostic, describeDiagnostic, quoteValue } from '../../../base/diagnostics/diagnostic.ts';
import { MAX_ID } from '../../../base/vocabulary/limits.ts';
import { checked, documentFields } from '../../../rules/model/fields.ts';
import { type Fields, type Form, plainCopy, readForm } from '../../../rules/model/form.ts';
import { nearest } from '../../../rules/model/nearest.ts';
import { createPatternBook } from '../../../rules/model/pattern.ts';
import { createReport, describeMistakes, type Problem, readIssue } from '../../../rules/model/report.ts';
import { isRead } from './checks.ts';
import { badRequest, notFound, type Refusal } from './refusal.ts';
import type { ApiRoute, BodyReader, Method } from './route.ts';

/** The parameters of every write. */
export const WRITE_QUERY = z.object({
  validate_only: z.enum(['true', 'false']).optional().describe('run every check and change nothing'),
  wait: z.enum(['published']).optional().describe('answer once a revision that covers the change is out'),
});

/** The parameters of a request. */
export interface ReadQuery {
  readonly validateOnly: boolean;
  readonly wait: 'published' | undefined;
  /** The output of the operation's schema. */
  readonly own: Readonly<Record<string, unknown>>;
}

/** Reads the query of a route. @throws Refusal 400 */
export function readQuery(route: ApiRoute, query: Readonly<Record<string, unknown>>): ReadQuery {
  const own = route.query === undefined ? [] : Object.keys(route.query.shape);
  checkNames(query, isRead(route) ? own : [...own, ...Object.keys(WRITE_QUERY.shape)]);
  const write = isRead(route) ? {} : parse(WRITE_QUERY, query);
  return {
    validateOnly: write.validate_only === 'true',
    wait: write.wait,
    own: route.query === undefined ? NO_QUERY : parse(route.query, query),
  };
}

/** The query of operations without parameters, one object for all requests. */
const NO_QUERY = {};
/** Unknown parameters that one 400 lists. */
const MOST_LISTED = 5;

/**
 * Checks that each parameter is in `known` and occurs once.
 * @throws Refusal 400 that lists the others, at most `MOST_LISTED`
 */
export function checkNames(query: Readonly<Record<string, unknown>>, known: readonly string[]): void {
  const wrong = Object.entries(query)
    .filter(([name, value]) => !known.includes(name) || Array.isArray(value))
    .slice(0, MOST_LISTED)
    .map(([name]) => (known.includes(name) ? `${name}: is given more than once` : unknownName(name, known)));
  if (wrong.length > 0) throw badRequest(wrong.join('; '));
}

/** The sentence for an unknown parameter, with a near name or the list of all known ones. */
function unknownName(name: string, known: readonly string[]): string {
  const meant = nearest(name, known);
  const taken = known.length === 0 ? 'none' : known.map((parameter) => `\`${parameter}\``).join(', ');
  const remedy = meant === null ? `this operation takes ${taken}` : `did you mean \`${meant}\`?`;
  return `${quoteValue(name)}: is not a known query parameter; ${remedy}`;
}

/** Validates a query by a schema. @throws Refusal 400 that lists the mistakes */
function parse<T extends z.ZodObject>(schema: T, query: Readonly<Record<string, unknown>>): z.output<T> {
  const result = schema.safeParse(query);
  if (result.success) return result.data;
  const sentences = result.error.issues
    .flatMap((issue) => readIssue(issue, query, {}))
    .map(({ path, problem }) => {
      const { code, message, found, remedy } = problem;
      return describeDiagnostic({
        code,
        severity: 'error',
        path,
        message,
        ...(typeof found === 'string' ? { found } : {}),
        ...(remedy === undefined ? {} : { remedy }),
      });
    });
  throw badRequest(sentences.join('; '));
}

/**
 * The schema of an optional whole number in decimal digits, within inclusive bounds. Signs and exponents are refused.
 */
export function queryNumber(least: number, most: number): z.ZodType<number | undefined> {
  const message = `must be a whole number from ${least} to ${most}`;
  const problem: Problem = { code: 'out_of_range', message };
  return checked(z.unknown(), (value) => {
    const number = typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : -1;
    return number >= least && number <= most ? null : problem;
  })
    .transform(Number)
    .optional()
    .meta({ type: 'integer', minimum: least, maximum: most }) as unknown as z.ZodType<number | undefined>;
}

/** What the next page repeats: the query of this one; `undefined` parameters are left out. */
export interface NextPage {
  /** The path of the list. */
  readonly path: string;
  readonly query: Readonly<Record<string, string | number | undefined>>;
}

/** The `Link` header that leads to the next page (RFC 8288 §3.3). */
export function nextPage({ path, query }: NextPage): Readonly<Record<string, string>> {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) parameters.set(name, String(value));
  }
  return { link: `<${path}?${parameters}>; rel="next"` };
}

// Reads a JSON body by a form of `model`; the message of a 400 follows semantics §6.

/** A body that a form reads before the handler runs. Unknown fields are a 400; ignored ones are removed. */
export function formBody<F extends Fields, Out>(form: Form<F, Out>): BodyReader<Out> {
  const schema = z.object(documentFields(form.fields, 'request'));
  return { kind: 'read', schema, read: (body) => readBody(form, body) };
}

/** The value that a form returns for a body. @throws Refusal 400 that lists the mistakes */
export function readBody<F extends Fields, Out>(form: Form<F, Out>, body: unknown): Out {
  const report = createReport();
  const value = readForm(form, plainCopy(body)?.value, {
    report,
    patterns: createPatternBook(),
    path: [],
  });
  if (value === null || report.errors() > 0) throw wrongInput(report.diagnostics());
  return value;
}

/** The 400 for the errors that a reader of `model` collected. */
export function wrongInput(diagnostics: readonly Diagnostic[]): Refusal {
  return badRequest(describeMistakes(diagnostics));
}

/** Method and URL of a route in Fastify's syntax. */
export function urlOf({ method, path }: Pick<ApiRoute, 'method' | 'path'>): { method: Method; url: string } {
  return { method, url: path.replaceAll(/\{(\w+)\}/g, ':$1') };
}

/** The percent-decoded segments of a URL's path; a segment with invalid escapes is unchanged. */
export function segmentsOf(url: string): readonly string[] {
  const path = url.split('?', 1)[0]!;
  const segments = path.split('/').slice(1);
  return path.includes('%') ? segments.map(decodeSegment) : segments;
}

/** One decoded segment; unchanged where its escapes are invalid. */
function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

/** The methods that routes accept at these segments, in the order of the table. */
export function methodsAt(
  routes: readonly Pick<ApiRoute, 'method' | 'path'>[],
  segments: readonly string[],
): readonly Method[] {
  const found = new Set<Method>();
  for (const { method, path } of routes) {
    const parts = path.split('/').slice(1);
    const fits = parts.length === segments.length && parts.every((part, at) => fitsPart(part, segments[at]!));
    if (fits) found.add(method);
  }
  return [...found];
}

/**
 * The path of the table that differs from an unknown path only in its trailing slash, in `_` and `-`, or in case; `null`:
 * the table has none. The 404 suggests the path.
 */
export function pathMeant(
  routes: readonly Pick<ApiRoute, 'path'>[],
  segments: readonly string[],
): string | null {
  const given = withoutSlash(segments);
  for (const { path } of routes) {
    const parts = path.split('/').slice(1);
    const named = withoutSlash(parts);
    const fits = named.length === given.length && named.every((part, at) => nearlyFits(part, given[at]!));
    if (!fits) continue;
    return parts
      .map((part, at) => `/${part.startsWith('{') ? encodeURIComponent(given[at]!) : part}`)
      .join('');
  }
  return null;
}

/** The segments without the empty one after a trailing slash. */
function withoutSlash(segments: readonly string[]): readonly string[] {
  return segments.at(-1) === '' ? segments.slice(0, -1) : segments;
}

/** As `fitsPart`, without regard to case and to the difference of `_` and `-`. */
function nearlyFits(part: string, segment: string): boolean {
  return fitsPart(part, segment) || part.replaceAll('_', '-') === segment.toLowerCase().replaceAll('_', '-');
}

/** Whether a segment matches a part of a pattern: any non-empty one for `{name}`, else the same text. */
function fitsPart(part: string, segment: string): boolean {
  return part.startsWith('{') ? segment !== '' : part === segment;
}

/** The numeric id of a path segment. @throws Refusal 404 for a text that is not an id */
export function idOf(segment: string | undefined): number {
  const id = segment !== undefined && /^[1-9]\d{0,9}$/.test(segment) ? Number(segment) : 0;
  if (id < 1 || id > MAX_ID) throw notFound();
  return id;
}
