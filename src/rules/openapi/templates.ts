/**
 * Path templates of OpenAPI: `/pets/{id}`, `/files/{name}.json`, `/{from}-{to}`. In: a key of `paths`. Out: its shape, which is equal
 * for templates that match the same paths, or what is wrong with it.
 */
import { parseTemplate, templateShape } from '../../base/paths/path-template.ts';
import type { Problem } from '../model/report.ts';
import { MAX_TEMPLATE_CHARACTERS } from './limits.ts';

/** A template that was read: its shape without names of parameters, or its mistake. */
export type ReadTemplate = { readonly shape: string } | { readonly problem: Problem };

/** Parameters as RFC 6570 and API gateways write them where they take more than one segment. */
const OPERATORS = /^[+#./;?&]|[*+]$|\//;

/** Reads a template. */
export function readTemplate(path: string): ReadTemplate {
  const problem = writtenProblem(path);
  if (problem !== null) return { problem };
  const parsed = parseTemplate(path);
  if (!parsed.ok) return { problem: { code: 'openapi_path', message: parsed.message } };
  return { shape: templateShape(parsed.segments) };
}

/** What is wrong with the path beside what no template of a gateway has; with remedies for what OpenAPI documents have. */
function writtenProblem(path: string): Problem | null {
  if (path.length > MAX_TEMPLATE_CHARACTERS) {
    const message = `must be at most ${MAX_TEMPLATE_CHARACTERS} characters long`;
    return { code: 'openapi_path', message, found: `${path.length}` };
  }
  const outside = path.replace(/\{[^{}]*\}/g, '');
  if (outside.includes('?')) {
    const message = 'has a query, and a path is compared without one';
    return problemOf(message, 'end the path before the `?`, and describe the parameters in `parameters`');
  }
  if (outside.includes('#')) {
    const message = 'has a fragment, which clients do not send';
    return problemOf(message, 'end the path before the `#`, and write one operation for each method');
  }
  if (/[\u0000-\u0020\u007f\\]/.test(outside))
    return problemOf('has a control character, a blank or a backslash', 'percent-encode it');
  return operatorProblem(path);
}

/** The problem of a parameter that takes more than one segment, or none of them; `null`: no parameter is one. */
function operatorProblem(path: string): Problem | null {
  const parameter = path.match(/\{[^{}]*\}/g)?.find((one) => OPERATORS.test(one.slice(1, -1)));
  if (parameter === undefined) return null;
  const message = `has the parameter \`${parameter.slice(0, 60)}\`; a parameter takes one segment or a part of it`;
  return problemOf(message, 'write a parameter for each segment, or remove what is not its name');
}

function problemOf(message: string, remedy: string): Problem {
  return { code: 'openapi_path', message, remedy };
}
