/**
 * Derives the schema of a field for documents (OpenAPI, JSON Schema): type, bounds, default, description and examples, without the
 * conversions of a read. It comes from the schema that reads the field, so the document and the checks agree.
 */
import { z } from 'zod';
import type { Fields } from './form.ts';

/**
 * How a document shows a field. `request`: with its default, which makes it optional. `update`: without a default, since
 * an absent field of an update stays unchanged. `answer`: always present.
 */
export type DocumentKind = 'request' | 'update' | 'answer';

/** Makes the schema that a document of a kind shows instead. */
type Substitute = (kind: DocumentKind) => z.ZodType;

/** Substitutes by schema, for schemas that documents cannot show: transforms and pipes. */
const SUBSTITUTES = new WeakMap<object, Substitute>();

/**
 * Sets the schema that documents show for one that converts its value or reads it in steps. Returns `schema` itself.
 */
export function shownAs<T extends z.ZodType>(schema: T, substitute: Substitute): T {
  SUBSTITUTES.set(schema, substitute);
  return schema;
}

/** The schema of one field for a document, with the description, the examples and the deprecation of the field. */
export function documentField(field: z.ZodType, kind: DocumentKind): z.ZodType {
  const shown = withoutConversion(field, kind);
  const { description, deprecated, examples } = z.globalRegistry.get(field) ?? {};
  const meta = {
    ...(description === undefined ? {} : { description }),
    ...(deprecated ? { deprecated } : {}),
    ...(Array.isArray(examples) ? { examples: examplesOf(field, { examples, kind }) } : {}),
  };
  return Object.keys(meta).length === 0 ? shown : shown.meta({ ...z.globalRegistry.get(shown), ...meta });
}

/** The examples of a field are requests; an answer has the defaults of what they leave out. */
function examplesOf(
  field: z.ZodType,
  { examples, kind }: { readonly examples: readonly unknown[]; readonly kind: DocumentKind },
): unknown[] {
  const isWhole = (example: unknown): boolean => kind !== 'answer' || typeof example !== 'object';
  return examples.map((example) => (isWhole(example) ? example : field.parse(example)));
}

/** The schemas of an object's fields for a document. */
type DocumentFields<F extends Fields> = { readonly [K in keyof F]: z.ZodType<z.output<F[K]>> };

/** The schemas of an object's fields for a document, by name; in an update every field is optional. */
export function documentFields<F extends Fields>(fields: F, kind: DocumentKind): DocumentFields<F> {
  const entries = Object.entries(fields).map(([name, field]) => {
    const shown = documentField(field, kind);
    const isOptional = kind !== 'update' || shown.safeParse(undefined).success;
    return [name, isOptional ? shown : shown.optional()];
  });
  return Object.fromEntries(entries) as DocumentFields<F>;
}

/** The schema without conversions, at every level; optional, nullable and default wrappers are applied again. */
function withoutConversion(field: z.ZodType, kind: DocumentKind): z.ZodType {
  const substitute = substituteOf(field);
  if (substitute !== null) return substitute(kind);
  if (field instanceof z.ZodDefault || field instanceof z.ZodPrefault) {
    const inner = documentField(field.unwrap() as z.ZodType, kind);
    return kind === 'request' ? inner.default(field.def.defaultValue) : inner;
  }
  if (field instanceof z.ZodOptional) return documentField(field.unwrap() as z.ZodType, kind).optional();
  if (field instanceof z.ZodNullable) return documentField(field.unwrap() as z.ZodType, kind).nullable();
  if (field instanceof z.ZodObject) return z.object(documentFields(field.shape, kind));
  return field;
}

/** The substitute of a schema, or of the one that it refines: zod links a refined schema to its source. */
function substituteOf(field: z.ZodType): Substitute | null {
  for (let at: z.core.$ZodType | undefined = field; at !== undefined; at = at._zod.parent) {
    const substitute = SUBSTITUTES.get(at);
    if (substitute !== undefined) return substitute;
  }
  return null;
}
