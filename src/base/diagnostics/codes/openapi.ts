/** Codes of OpenAPI documents, from which gateways have operations. */
import type { CodeList } from './code.ts';

export const OPENAPI_CODES = {
  openapi_body: {
    severity: 'warning',
    meaning: 'the schema of a body is not compared with bodies, since it has what is not evaluated',
    remedy: 'write it in JSON Schema 2020-12 without what the message names',
  },
  openapi_duplicate: {
    severity: 'error',
    meaning:
      'two paths differ in names of parameters only, a path has a method twice, or two operations have one `operationId`',
    remedy: 'write one path with all methods, and give each operation an `operationId` of its own',
  },
  openapi_empty: {
    severity: 'warning',
    meaning: 'the document describes no operation, so every request is unknown to the gateway',
    remedy: 'add `paths`, or remove the document',
  },
  openapi_ignored: {
    severity: 'warning',
    meaning: 'a gateway does not use the field, and the document means something by it',
    remedy: 'remove the field, or move what it says to where the message points',
  },
  openapi_name: {
    severity: 'error',
    meaning: 'an `operationId`, a tag or a scope is empty, too long or has control characters',
    remedy: 'use a shorter name of visible characters',
  },
  openapi_path: {
    severity: 'error',
    meaning:
      'the path is no template that a request can match: it has a query, a fragment, an empty segment, or braces that do not pair',
    remedy: 'write the path from `/` on, with `{name}` for a segment or a part of one',
  },
  openapi_reference: {
    severity: 'error',
    meaning: 'a `$ref` leads out of the document, to nothing, or in a circle',
    remedy: 'join the documents, for example with `redocly bundle`, and refer to what is in them',
  },
  openapi_scopes: {
    severity: 'warning',
    meaning:
      'alternatives of `security` need different scopes; the gateway then needs the scopes of all, so that it never allows more than the document',
    remedy: 'write the same scopes in each alternative, or give consumers all of them',
  },
  openapi_security: {
    severity: null,
    meaning:
      '`security` names a scheme that the document does not have, or needs what a gateway does not check',
    remedy: 'declare the scheme in `components.securitySchemes`, or set `auth` of the gateway',
  },
  openapi_server: {
    severity: 'warning',
    meaning: 'the `url` of a server has no path that could be a base path',
    remedy: 'write the URL with defaults for its variables; `base_path` of the gateway decides',
  },
  openapi_version: {
    severity: 'error',
    meaning: 'the document is not OpenAPI 3.0, 3.1 or 3.2',
    remedy: 'convert Swagger 2.0 with `swagger2openapi`; write `openapi` as text of three numbers',
  },
} as const satisfies CodeList;
