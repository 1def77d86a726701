/**
 * What `$ref` of a schema refers to: its root, JSON pointers into it (RFC 6901), and names of `$anchor` and `$dynamicAnchor`. Documents
 * elsewhere are never fetched.
 */
/** Path from the root of a schema. */
export type SchemaPath = readonly (string | number)[];

/** A mistake in a schema, or what is not supported. */
export interface SchemaProblem {
  readonly path: SchemaPath;
  readonly message: string;
  readonly remedy?: string;
}

/** A schema inside another one. */
export interface LocatedSchema {
  readonly schema: unknown;
  readonly path: SchemaPath;
}

/** References of one schema. */
export interface SchemaReferences {
  /** Of identifiers. */
  readonly problems: readonly SchemaProblem[];
  /** What a reference refers to, or why it refers to nothing. */
  find(reference: unknown): LocatedSchema | string;
}

/** Keywords with one schema, a list of schemas, or an object of schemas. */
const ONE = [
  'items',
  'contains',
  'additionalProperties',
  'propertyNames',
  'not',
  'if',
  'then',
  'else',
] as const;
const SEVERAL = ['prefixItems', 'allOf', 'anyOf', 'oneOf'] as const;
const NAMED = ['$defs', 'definitions', 'properties', 'patternProperties', 'dependentSchemas'] as const;
/** Maximum nesting depth of a schema: beyond that its place has no meaning for a reader. */
const MAX_DEPTH = 128;

/** Reads the identifiers of a schema. */
export function createReferences(root: unknown): SchemaReferences {
  const anchors = new Map<string, LocatedSchema>();
  const problems: SchemaProblem[] = [];
  const visit = (schema: unknown, path: SchemaPath): void => {
    if (!isObject(schema)) return;
    if (path.length > MAX_DEPTH) {
      if (problems.length === 0) problems.push({ path, message: `is nested more than ${MAX_DEPTH} deep` });
      return;
    }
    if (path.length > 0 && Object.hasOwn(schema, '$id')) {
      const message = 'begins a resource of its own, and a body has one';
      problems.push({ path: [...path, '$id'], message, remedy: 'remove it, and refer to `#/…`' });
    }
    for (const keyword of ['$anchor', '$dynamicAnchor']) {
      const name = schema[keyword];
      if (typeof name === 'string' && !anchors.has(name)) anchors.set(name, { schema, path });
    }
    for (const keyword of ONE) visit(schema[keyword], [...path, keyword]);
    for (const keyword of SEVERAL) {
      const list = schema[keyword];
      if (Array.isArray(list))
        for (const [index, one] of list.entries()) visit(one, [...path, keyword, index]);
    }
    for (const keyword of NAMED) {
      const group = schema[keyword];
      if (isObject(group))
        for (const [name, one] of Object.entries(group)) visit(one, [...path, keyword, name]);
    }
  };
  visit(root, []);
  const id = isObject(root) && typeof root['$id'] === 'string' ? root['$id'].replace(/#$/, '') : '';
  return { problems, find: (reference) => find({ root, id, anchors }, reference) };
}

interface Known {
  readonly root: unknown;
  readonly id: string;
  readonly anchors: ReadonlyMap<string, LocatedSchema>;
}

function find({ root, id, anchors }: Known, reference: unknown): LocatedSchema | string {
  if (typeof reference !== 'string') return 'must be text';
  const at = reference.indexOf('#');
  const [base, encoded] = at < 0 ? [reference, ''] : [reference.slice(0, at), reference.slice(at + 1)];
  if (base !== '' && base !== id) return 'refers to another document, and only this schema is read';
  const fragment = decoded(encoded);
  if (fragment === null) return 'has a `%` without two digits';
  if (fragment === '') return { schema: root, path: [] };
  if (!fragment.startsWith('/'))
    return anchors.get(fragment) ?? 'refers to an anchor that the schema does not have';
  let schema: unknown = root;
  const path: (string | number)[] = [];
  for (const step of fragment.slice(1).split('/')) {
    const name = step.replaceAll('~1', '/').replaceAll('~0', '~');
    const isIndex = Array.isArray(schema) && /^(?:0|[1-9][0-9]{0,5})$/.test(name);
    if (!isIndex && !isObject(schema)) return NOTHING;
    if (!Object.hasOwn(schema as object, name)) return NOTHING;
    schema = (schema as Readonly<Record<string, unknown>>)[name];
    path.push(isIndex ? Number(name) : name);
  }
  return { schema, path };
}

const NOTHING = 'refers to nothing in the schema';

function decoded(fragment: string): string | null {
  try {
    return decodeURIComponent(fragment);
  } catch {
    // The only error of `decodeURIComponent` is a malformed text.
    return null;
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
