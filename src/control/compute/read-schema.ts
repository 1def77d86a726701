/**
 * Reads an OpenAPI document for a gateway. In a thread, since a document of some megabytes takes seconds.
 */
import { type Diagnostic, diagnosticFields } from '../../base/diagnostics/diagnostic.ts';
import { readOpenApiBytes } from '../../rules/files/openapi-file.ts';
import type { ReadSchema, SchemaJob } from './job.ts';

/** The file name that places carry; answers have line and column alone. */
const NAME = 'schema';

/** Reads the document. Never throws. */
export function readSchema({ octets }: SchemaJob): ReadSchema {
  const read = readOpenApiBytes(octets, NAME);
  const diagnostics = read.diagnostics.map(fieldsOf);
  if (!read.ok) return { ok: false, diagnostics };
  const { version, basePaths } = read;
  return {
    ok: true,
    version,
    basePaths,
    operations: read.operations.map(({ operation }) => operation),
    diagnostics,
  };
}

function fieldsOf(diagnostic: Diagnostic): ReadSchema['diagnostics'][number] {
  const { line = 1, column = 1 } = diagnostic.at ?? {};
  return { ...(diagnosticFields(diagnostic) as ReadSchema['diagnostics'][number]), line, column };
}
