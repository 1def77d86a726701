/** Reads a JSON body by a form of `model`, and words a 400 as semantics §6 wants it. */
import { type Diagnostic, describeDiagnostic } from '../base/diagnostic.ts';
import { type Fields, type Form, readForm } from '../model/form.ts';
import { createPatternBook } from '../model/pattern.ts';
import { plainCopy } from '../model/plain.ts';
import { createReport } from '../model/report.ts';
import { badRequest, type Refusal } from './refusal.ts';
import type { BodyReader } from './route.ts';

/** A body that a form reads before the handler runs: unknown fields are 400, ignored ones are left out. */
export function formBody<F extends Fields, Out>(form: Form<F, Out>): BodyReader<Out> {
  return { kind: 'read', schema: form.schema, read: (body) => readBody(form, body) };
}

/** Mistakes one 400 tells, at most: more than anyone mends in one go. */
const TOLD = 20;

/** The value a form makes of a body. Throws the 400 that tells every mistake. */
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

/** The 400 for what a reader of `model` found: `<field path>: <what is wrong>`, several joined by `; `. */
export function wrongInput(diagnostics: readonly Diagnostic[]): Refusal {
  const told = diagnostics.filter(({ severity }) => severity === 'error').map(sentence);
  const rest = told.length - TOLD;
  const text = [...new Set(told.slice(0, TOLD))].join('; ');
  return badRequest(rest > 0 ? `${text}; and ${rest} more` : text || 'the body is not what it should be');
}

/** Messages that the API document fixes stay word for word, so no path stands before them. */
function sentence(diagnostic: Diagnostic): string {
  return diagnostic.code === 'foreign_record' ? diagnostic.message : describeDiagnostic(diagnostic);
}
