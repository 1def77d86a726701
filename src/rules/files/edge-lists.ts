/**
 * The lists of an edge file: entries in the file, or in `lists/<name>.txt` beside it. In: the list `lists` of the file and the text
 * files. Out: lists as the model has them, and mistakes with file and line.
 */
import { type Diagnostic, quoteValue } from '../../base/diagnostics/diagnostic.ts';
import { MAX_LIST_FILE_OCTETS, MAX_LISTS } from '../../base/vocabulary/limits.ts';
import type { ListKind } from '../../base/vocabulary/vocabulary.ts';
import { type EntryList, readListText, readNamedList } from '../model/lists.ts';
import { createReport } from '../model/report.ts';
import type { EdgePart } from './edge-parts.ts';
import { sizeText } from './size.ts';
import { isMapping, type YamlFile } from './yaml.ts';

/** Lists with the diagnostics of reading them. A list with a mistake is left out. */
export interface FileLists {
  readonly lists: readonly EntryList[];
  readonly diagnostics: readonly Diagnostic[];
}

/** Whether a file that is read beside an edge file has the entries of a list. */
export function isListFile({ name }: Pick<EdgePart, 'name'>): boolean {
  return name.endsWith('.txt');
}

/** Reads the lists of an edge file; `files`: the text files beside it. */
export function readFileLists(yaml: YamlFile, files: readonly EdgePart[]): FileLists {
  const written = isMapping(yaml.value) ? yaml.value['lists'] : undefined;
  if (written === undefined || written === null) return { lists: [], diagnostics: [] };
  const report = createReport();
  const found: Diagnostic[] = [];
  const lists: EntryList[] = [];
  if (!Array.isArray(written)) {
    const message = 'must be a list of `name`, `kind` and, unless `lists/<name>.txt` has them, `entries`';
    report.add('error', ['lists'], { code: 'invalid_type', message, found: quoteValue(written) });
  } else if (written.length > MAX_LISTS) {
    const message = `must have at most ${MAX_LISTS} entries`;
    report.add('error', ['lists'], { code: 'too_many', message, found: String(written.length) });
  } else {
    for (const [index, list] of written.entries()) {
      if (report.full()) break;
      const path = ['lists', index];
      const isWhole = !isMapping(list) || Object.hasOwn(list, 'entries');
      const read = isWhole
        ? readNamedList(list, { path, report })
        : readFromFile(list, { path, report }, { files, found });
      if (read === null) continue;
      if (lists.some(({ name }) => name === read.name)) {
        const message = 'is the name of an earlier list; names must differ';
        report.add('error', [...path, 'name'], { code: 'list_name', message, found: quoteValue(read.name) });
      } else lists.push(read);
    }
  }
  const placed = report.diagnostics().map((one) => ({ ...one, at: yaml.at(one.path) }));
  return { lists, diagnostics: [...placed, ...found] };
}

/** Reads a list whose entries are in a file of its own. */
function readFromFile(
  list: Readonly<Record<string, unknown>>,
  place: Parameters<typeof readNamedList>[1],
  { files, found }: { readonly files: readonly EdgePart[]; readonly found: Diagnostic[] },
): EntryList | null {
  const head = readNamedList({ ...list, entries: [] }, place);
  if (head === null) return null;
  const file = files.find(({ name }) => name.replaceAll('\\', '/').endsWith(`lists/${head.name}.txt`));
  if (file === undefined) {
    place.report.add('error', place.path, {
      code: 'list_file',
      message: `has no entries: there is no file \`lists/${head.name}.txt\` beside the edge file`,
      found: null,
      remedy: 'write `entries`, or make the file with an entry a line',
    });
    return null;
  }
  const read = readFile(head.kind, file, found);
  return read === null ? null : { ...head, entries: read };
}

/** The entries of a file; `null`: it has mistakes, which are added to `found` with their lines. */
function readFile(
  kind: ListKind,
  { name, octets }: EdgePart,
  found: Diagnostic[],
): EntryList['entries'] | null {
  const refuse = (code: 'file_too_long' | 'invalid_utf8', message: string): null => {
    found.push({ code, severity: 'error', path: [], message, at: { file: name, line: 1, column: 1 } });
    return null;
  };
  if (octets.length > MAX_LIST_FILE_OCTETS)
    return refuse('file_too_long', `a list's file must be at most ${sizeText(MAX_LIST_FILE_OCTETS)}`);
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(octets);
  } catch {
    // The decoder's message names no place.
    return refuse('invalid_utf8', 'must be UTF-8 text');
  }
  const read = readListText(kind, text);
  for (const { path, ...rest } of read.diagnostics) {
    const [line] = path;
    found.push({
      ...rest,
      path: [],
      at: { file: name, line: typeof line === 'number' ? line : 1, column: 1 },
    });
  }
  return read.ok ? read.entries : null;
}
