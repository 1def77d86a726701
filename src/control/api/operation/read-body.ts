/** Reads a JSON body by a form of `model`; the message of a 400 follows semantics §6. */
import { z } from 'zod';
import type { Diagnostic } from '../../../base/diagnostics/diagnostic.ts';
import { documentFields } from '../../../rules/model/fields.ts';
import { type Fields, type Form, plainCopy, readForm } from '../../../rules/model/form.ts';
import { createPatternBook } from '../../../rules/model/pattern.ts';
import { createReport, describeMistakes } from '../../../rules/model/report.ts';
import { badRequest, type Refusal } from './refusal.ts';
import type { BodyReader } from './route.ts';

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
