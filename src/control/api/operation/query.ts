/**
 * Reads query parameters: the two that every write has, and those of the operation. Any other is a 400, so that a mistyped
 * `validate_only` never commits a write.
 */
import { z } from 'zod';
import { describeDiagnostic, quoteValue } from '../../../base/diagnostics/diagnostic.ts';
import { checked } from '../../../rules/model/fields.ts';
import { nearest } from '../../../rules/model/nearest.ts';
import { type Problem, readIssue } from '../../../rules/model/report.ts';
import { isRead } from './checks.ts';
import { badRequest } from './refusal.ts';
import type { ApiRoute } from './route.ts';

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
