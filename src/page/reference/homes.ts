/**
 * Decides where the fields of each named schema are shown: at the one body that has them, so that a reader of an operation
 * sees them in place, or among the shared objects where operations of several groups have them.
 */
import {
  type ApiDocument,
  type ApiOperation,
  type ContentTypes,
  operationsOf,
  referredName,
  type Schema,
} from './document.ts';

/** The body where a schema is shown, as `<operation id>.body` or `<operation id>.<status>`; others are shared. */
export type Homes = ReadonlyMap<string, string>;

interface Use {
  readonly name: string;
  readonly tag: string;
  readonly body: string;
  /** The body is the object itself, not a list of such objects. */
  readonly direct: boolean;
}

/** The homes of all schemas that have one. */
export function homesOf(document: ApiDocument): Homes {
  const uses = operationsOf(document).flatMap(usesOf);
  const homes = new Map<string, string>();
  for (const name of Object.keys(document.components.schemas)) {
    const all = uses.filter((use) => use.name === name);
    const one = all.find(({ direct }) => direct) ?? all[0];
    if (one !== undefined && all.every(({ tag }) => tag === one.tag)) homes.set(name, one.body);
  }
  return homes;
}

function usesOf({ operationId, tags, requestBody, responses }: ApiOperation): readonly Use[] {
  const bodies: readonly (readonly [string, ContentTypes | undefined])[] = [
    ['body', requestBody?.content],
    ...Object.entries(responses).map(([status, { content }]) => [status, content] as const),
  ];
  return bodies.flatMap(([where, content]) =>
    Object.values(content ?? {}).flatMap(({ schema }) => {
      const use = useOf(schema);
      return use === null ? [] : [{ ...use, tag: tags[0] ?? '', body: `${operationId}.${where}` }];
    }),
  );
}

function useOf(schema: Schema): Pick<Use, 'name' | 'direct'> | null {
  if (schema.$ref !== undefined) return { name: referredName(schema.$ref), direct: true };
  const inner = schema.items?.$ref;
  return inner === undefined ? null : { name: referredName(inner), direct: false };
}
