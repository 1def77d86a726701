/**
 * Reads an OpenAPI document (3.0, 3.1, and 3.2 where it is the same) as the operations of a gateway. In: the document as plain data.
 * Out: an operation for each path and method, the base paths of `servers`, and diagnostics with paths into the document. What a
 * gateway does not use (parameters, responses, callbacks, webhooks, `x-` extensions) is not read.
 */
import { type Diagnostic, type FieldPath, quoteValue } from '../../base/diagnostics/diagnostic.ts';
import { isObject } from '../../base/text/json-object.ts';
import { createReport, type Report } from '../model/report.ts';
import { createBodyReader } from './bodies.ts';
import { type LocatedOperation, readPathItems } from './path-items.ts';
import type { DocumentReading } from './references.ts';
import { createSecurityReader } from './security.ts';
import { readBasePaths } from './servers.ts';

/** A document that was read. With `ok: false` at least one diagnostic is an error. */
export type OpenApiDocument =
  | {
      readonly ok: true;
      /** `openapi` of the document, such as `3.1.0`. */
      readonly version: string;
      /** In the order of the document. */
      readonly operations: readonly LocatedOperation[];
      /** The distinct paths of `servers`, a hint for `base_path`; `/` without servers. */
      readonly basePaths: readonly string[];
      readonly diagnostics: readonly Diagnostic[];
    }
  | { readonly ok: false; readonly diagnostics: readonly Diagnostic[] };

/** Reads a document. Never throws for its content. */
export function readOpenApi(document: unknown): OpenApiDocument {
  const report = createReport();
  const version = readVersion(document, report);
  if (version === null || !isObject(document)) return { ok: false, diagnostics: report.diagnostics() };
  const reading: DocumentReading = { root: document, report };
  const security = createSecurityReader(reading);
  const preset =
    document['security'] === undefined
      ? ({ auth: null, scopes: [] } as const)
      : security.read(document['security'], ['security']);
  const paths = readPaths(document['paths'], version, report);
  const basePaths = readBasePaths(document['servers'], ['servers'], report);
  const state = { ...reading, security, preset, basePaths, bodies: createBodyReader(reading, version) };
  const operations = paths === null ? [] : readPathItems(paths, state);
  if (operations.length === 0 && report.errors() === 0) {
    const message = 'describes no operation, so every request is unknown to the gateway';
    report.add('warning', paths === null ? [] : ['paths'], { code: 'openapi_empty', message });
  }
  const diagnostics = report.diagnostics();
  return report.errors() > 0
    ? { ok: false, diagnostics }
    : { ok: true, version, operations, basePaths, diagnostics };
}

/** `openapi` of the document; `null`: it is of a version that is not read, which is reported. */
function readVersion(document: unknown, report: Report): string | null {
  const refuse = (path: FieldPath, message: string, remedy: string, found: string | null = null): null => {
    report.add('error', path, { code: 'openapi_version', message, found, remedy });
    return null;
  };
  const start = 'start with `openapi: 3.1.0`, `info` and `paths`';
  if (!isObject(document)) return refuse([], 'must be an OpenAPI document: an object', start);
  const { openapi, swagger } = document;
  if (openapi === undefined && swagger !== undefined) {
    const remedy = 'convert it to OpenAPI 3 first, for example with `swagger2openapi`';
    return refuse(
      ['swagger'],
      'is Swagger, and OpenAPI 3.0, 3.1 and 3.2 are read',
      remedy,
      quoteValue(swagger),
    );
  }
  if (openapi === undefined) return refuse([], 'must be an OpenAPI document with `openapi`', start);
  const message = 'must be a version of OpenAPI 3.0, 3.1 or 3.2, such as `3.1.0`';
  if (typeof openapi === 'number')
    return refuse(['openapi'], message, 'write all three numbers, such as `3.1.0`', quoteValue(openapi));
  if (typeof openapi === 'string' && /^3\.[012]\.\d{1,3}(?:-[\w.]{1,32})?$/.test(openapi)) return openapi;
  const remedy = 'convert the document to one of these versions';
  return refuse(['openapi'], message, remedy, quoteValue(openapi));
}

/** `paths` of the document, which 3.0 requires and later versions do not. */
function readPaths(
  paths: unknown,
  version: string,
  report: Report,
): Readonly<Record<string, unknown>> | null {
  if (isObject(paths)) return paths;
  // An empty value of YAML.
  if (paths === null) return {};
  if (paths === undefined) {
    if (!version.startsWith('3.0.')) return null;
    const message = 'is missing; it must be an object of path items by their paths';
    report.add('error', ['paths'], { code: 'missing_field', message, found: null });
    return null;
  }
  const message = 'must be an object of path items by their paths';
  report.add('error', ['paths'], { code: 'invalid_type', message, found: quoteValue(paths) });
  return null;
}
