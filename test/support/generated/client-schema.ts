/** The types of `edgeplan/client`, made from the OpenAPI document a server serves. */
import openapiTS, { astToString, type OpenAPI3 } from 'openapi-typescript';
import { parse } from 'yaml';

export const SCHEMA_FILE = 'src/control/client/schema.ts';

const HEADER = `/**
 * Every operation of the API with its parameters, bodies and answers, from \`/docs/openapi.yaml\`. Generated: \`npm run
 * generate\` writes it, and a test compares it with the document.
 */
`;

type Operations = Readonly<
  Record<string, { readonly security?: readonly Readonly<Record<string, unknown>>[] }>
>;

/** TypeScript from the YAML of the document; what nodes ask for with their own tokens is left out. */
export async function clientSchema(yaml: string): Promise<string> {
  // Examples are for readers of the reference; as comments they would triple the file.
  const document = parse(yaml, (key, value) => (key === 'examples' ? undefined : value)) as OpenAPI3;
  const paths = Object.entries(document.paths as Readonly<Record<string, Operations>>).map(
    ([path, operations]) => [path, forKeys(operations)] as const,
  );
  const kept = paths.filter(([, operations]) => Object.keys(operations).length > 0);
  const nodes = await openapiTS({ ...document, paths: Object.fromEntries(kept) } as OpenAPI3, {
    immutable: true,
    // A field with a default may be left out of a request.
    defaultNonNullable: false,
    silent: true,
  });
  return HEADER + astToString(nodes);
}

function forKeys(operations: Operations): Operations {
  const own = Object.entries(operations).filter(
    ([, { security }]) => security?.some((one) => 'nodeToken' in one) !== true,
  );
  return Object.fromEntries(own);
}
