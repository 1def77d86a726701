/**
 * Joins the files of a domain: `edge.yaml` and the parts of `edge.d`, each with further records, rules, gateways and objects of the
 * registry. The result reads like one file whose lists have the entries of all, and every place is that of the file that has it.
 */
import type { Diagnostic, FieldPath, SourcePlace } from '../../base/diagnostics/diagnostic.ts';
import { MAX_EDGE_PARTS, MAX_FILE_OCTETS } from '../../base/vocabulary/limits.ts';
import { REGISTRY_LISTS } from '../model/registry/registry.ts';
import { sizeText } from './size.ts';
import { isMapping, type YamlFile } from './yaml.ts';

/** A part of a domain: its octets, and its name in places. */
export interface EdgePart {
  readonly name: string;
  readonly octets: Uint8Array;
  /** The file is no part: it is an OpenAPI document, which gateways name so. Absent: a part, or the file of a list. */
  readonly schema?: string;
}

/** The lists that a part may have. */
const LISTS = ['records', 'rules', 'gateways', ...REGISTRY_LISTS] as const;
const NAMES = LISTS.map((name) => `\`${name}\``).join(', ');

/** The entries of one file in a joined list. */
interface Segment {
  readonly yaml: YamlFile;
  readonly start: number;
  readonly entries: readonly unknown[];
}

/** Joins a domain's file and its parts, in their order. */
export function joinParts(main: YamlFile, parts: readonly YamlFile[]): YamlFile {
  if (parts.length === 0 || !isMapping(main.value)) return main;
  const mistakes = parts.flatMap(checkPart);
  const unread = parts.some(({ value }) => value === undefined);
  const segments = new Map(LISTS.map((list) => [list as string, segmentsOf(list, [main, ...parts])]));
  const value: Record<string, unknown> = { ...main.value };
  for (const [list, found] of segments) {
    const own = main.value[list];
    // A value that is no list is reported as it is.
    if (own !== undefined && own !== null && !Array.isArray(own)) continue;
    if (found.length > 0) value[list] = found.flatMap(({ entries }) => entries);
  }
  /** The file that has a value, and the path in it. */
  const locate = ([list, index, ...rest]: FieldPath): { yaml: YamlFile; path: FieldPath } => {
    const segment =
      typeof index === 'number'
        ? segments.get(String(list))?.findLast(({ start }) => start <= index)
        : undefined;
    if (segment === undefined) return { yaml: main, path: at(list, index, rest) };
    return { yaml: segment.yaml, path: [list!, Number(index) - segment.start, ...rest] };
  };
  return {
    name: main.name,
    ok: main.ok && mistakes.length === 0 && parts.every(({ ok }) => ok),
    // What follows from a part that was not read would mislead.
    value: unread ? undefined : value,
    diagnostics: [...main.diagnostics, ...parts.flatMap(({ diagnostics }) => diagnostics), ...mistakes],
    at: (path) => inFile(locate(path), (yaml, own) => yaml.at(own)),
    keyAt: (path) => inFile(locate(path), (yaml, own) => yaml.keyAt(own)),
    plainSource: (path) => inFile(locate(path), (yaml, own) => yaml.plainSource(own)),
  };
}

function inFile<T>(
  { yaml, path }: { readonly yaml: YamlFile; readonly path: FieldPath },
  read: (yaml: YamlFile, path: FieldPath) => T,
): T {
  return read(yaml, path);
}

/** A path from its first two steps, which may be absent, and the others. */
function at(
  list: string | number | undefined,
  index: string | number | undefined,
  rest: FieldPath,
): FieldPath {
  return [list, index, ...rest].filter((step) => step !== undefined);
}

/** Where the entries of each file begin in a joined list. */
function segmentsOf(list: string, files: readonly YamlFile[]): readonly Segment[] {
  const segments: Segment[] = [];
  let start = 0;
  for (const yaml of files) {
    const entries = isMapping(yaml.value) ? yaml.value[list] : undefined;
    if (!Array.isArray(entries)) continue;
    segments.push({ yaml, start, entries });
    start += entries.length;
  }
  return segments;
}

/** The mistakes of a part: it has lists, and nothing else. */
function checkPart(part: YamlFile): readonly Diagnostic[] {
  const { value } = part;
  // An empty file, or one of comments.
  if (value === undefined || value === null) return [];
  const problem = (
    path: FieldPath,
    at: SourcePlace,
    fields: Pick<Diagnostic, 'code' | 'message' | 'remedy'>,
  ) => ({ severity: 'error', path, at, ...fields }) as const;
  if (!isMapping(value)) {
    const message = `must be a mapping with one or more of ${NAMES}`;
    return [problem([], part.at([]), { code: 'invalid_file', message })];
  }
  return Object.keys(value).flatMap((key) => {
    if (!LISTS.some((list) => list === key)) {
      const message = 'must not be in a part of a domain';
      const remedy = `a part has ${NAMES}; everything else belongs into the edge file`;
      return [problem([key], part.keyAt([key]), { code: 'misplaced_field', message, remedy })];
    }
    const list = value[key];
    if (list === null || Array.isArray(list)) return [];
    return [problem([key], part.at([key]), { code: 'invalid_type', message: 'must be a list' })];
  });
}

/** The diagnostic for more files, or longer ones, than a domain may have; `null`: within the limits. */
export function tooManyParts(main: Uint8Array, name: string, parts: readonly EdgePart[]): Diagnostic | null {
  const tooLong = (file: string, message: string, found: string): Diagnostic => ({
    code: 'file_too_long',
    severity: 'error',
    path: [],
    message,
    found,
    at: { file, line: 1, column: 1 },
  });
  if (parts.length > MAX_EDGE_PARTS)
    return tooLong(name, `a domain must have at most ${MAX_EDGE_PARTS} parts`, `${parts.length} or more`);
  let octets = main.length;
  for (const part of parts) {
    octets += part.octets.length;
    if (octets <= MAX_FILE_OCTETS) continue;
    const message = `the files of a domain must together be at most ${sizeText(MAX_FILE_OCTETS)}`;
    return tooLong(part.name, message, `${octets} octets with this part`);
  }
  return null;
}
