/** Compiles schemas with patterns of their own and compares values with them, as a plan does. */
import { compileSchema } from '../../src/base/json-schema/compile-schema.ts';
import { rewritePattern } from '../../src/base/json-schema/ecma-pattern.ts';
import { readValue } from '../../src/base/json-schema/read-value.ts';
import type { SchemaProblem } from '../../src/base/json-schema/references.ts';
import { openProgram, type Validity } from '../../src/base/json-schema/validate.ts';
import { buildDfa } from '../../src/base/regex/dfa.ts';
import { parsePattern } from '../../src/base/regex/regex.ts';
import { dfaMatches } from '../../src/base/regex/table.ts';

/** A schema ready to compare, or why it is refused. */
export type TestedSchema =
  | { readonly ok: true; errorsOf(text: string): Validity | 'unreadable' | 'beyond' }
  | { readonly ok: false; readonly problems: readonly SchemaProblem[] };

/** Compiles a schema; its program passes through JSON, as in a plan. */
export function testedSchema(schema: unknown): TestedSchema {
  const tables: Uint16Array[] = [];
  const compiled = compileSchema(schema, (source) => {
    const rewritten = rewritePattern(source);
    if (!rewritten.ok) return rewritten.reason;
    const parsed = parsePattern(rewritten.source, { ignoreCase: false });
    if (!parsed.ok) return parsed.reason;
    const dfa = buildDfa(parsed.pattern.program);
    return dfa.ok ? tables.push(dfa.table) - 1 : dfa.reason;
  });
  if (!compiled.ok) return compiled;
  const program = JSON.parse(JSON.stringify(compiled.program));
  const validate = openProgram(program, (number, text) => dfaMatches(tables[number]!, 0, text));
  return {
    ok: true,
    errorsOf: (text) => {
      const octets = new TextEncoder().encode(text);
      const read = readValue(octets);
      if (!read.ok) return read.isBeyond ? 'beyond' : 'unreadable';
      return validate(read.value, octets.length);
    },
  };
}
