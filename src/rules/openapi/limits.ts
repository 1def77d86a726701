/** Bounds of OpenAPI documents. Each has a message that names it. */
import { MAX_OPERATIONS } from '../../base/vocabulary/limits.ts';

/** Maximum size, in octets: the documents of the largest public APIs that one gateway may serve have two to four megabytes. */
export const MAX_SCHEMA_OCTETS = 5_242_880;
/** Maximum nesting depth of lists and mappings: schemas inside of schemas come to some 40 in public documents. */
export const MAX_SCHEMA_DEPTH = 128;
/** Maximum number of paths: as many as a gateway has operations, since a path without one has no effect. */
export const MAX_SCHEMA_PATHS = MAX_OPERATIONS;
/** Maximum number of fields of a path item: methods, `x-` extensions and the five others that OpenAPI has. */
export const MAX_ITEM_FIELDS = 64;
/** Maximum number of references from a path to its path item: one, where no generator is at fault. */
export const MAX_REFERENCE_DEPTH = 8;
/** Maximum length, in characters, of a reference: a path of `MAX_TEMPLATE_CHARACTERS` with escapes, and what is before it. */
export const MAX_REFERENCE_CHARACTERS = 4_096;
/** Maximum length, in characters, of a path: as of a path entry of rules. */
export const MAX_TEMPLATE_CHARACTERS = 1_024;
/** Maximum number of alternatives in `security`, and of schemes in one of them. */
export const MAX_ALTERNATIVES = 64;
/** Maximum number of `servers`. */
export const MAX_SERVERS = 100;
