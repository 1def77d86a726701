/** Parses `_redirects` and `_headers`, which Netlify and Cloudflare Pages read from the folder that a site is published from. */
import type { SourceFile } from '../report.ts';

/** One line of `_redirects`. */
export interface RedirectLine {
  readonly place: string;
  readonly text: string;
  readonly from: string;
  /** `null`: the path of the visitor. */
  readonly to: string | null;
  /** Parameters of the query that the rule asks for; a value with `:` names a placeholder. */
  readonly query: readonly (readonly [string, string])[];
  /** `null`: the default of the product. */
  readonly status: number | null;
  /** `!` behind the status: the rule acts also where a file exists. */
  readonly isForced: boolean;
  /** `Country`, `Language`, `Role`, `Cookie` and others, in lower case. */
  readonly conditions: ReadonlyMap<string, readonly string[]>;
}

/** One header of a block of `_headers`. */
export interface HeaderLine {
  readonly place: string;
  readonly text: string;
  /** The pattern of the block. */
  readonly path: string;
  readonly name: string;
  /** `null`: the header is removed. */
  readonly value: string | null;
}

/** A line that is neither. */
export interface UnreadLine {
  readonly place: string;
  readonly text: string;
  readonly reason: string;
}

/** The lines of all files, in order. */
export interface SiteFiles {
  readonly redirects: readonly RedirectLine[];
  readonly headers: readonly HeaderLine[];
  readonly unread: readonly UnreadLine[];
}

/** Reads the files: by their names, or by their lines, of which `_headers` has indented ones. */
export function readSiteFiles(files: readonly SourceFile[]): SiteFiles {
  const found = { redirects: [] as RedirectLine[], headers: [] as HeaderLine[], unread: [] as UnreadLine[] };
  for (const file of files) {
    const isHeaders = /(?:^|[/\\])_headers$/.test(file.name);
    const isRedirects = /(?:^|[/\\])_redirects$/.test(file.name);
    if (isHeaders || (!isRedirects && /^[ \t]+!?[\w -]+(?::|$)/m.test(file.text))) readHeaders(file, found);
    else readRedirects(file, found);
  }
  return found;
}

interface FoundLines {
  readonly redirects: RedirectLine[];
  readonly headers: HeaderLine[];
  readonly unread: UnreadLine[];
}

function* linesOf({ name, text }: SourceFile): Generator<{ readonly place: string; readonly line: string }> {
  for (const [index, line] of text
    .replace(/^\ufeff/, '')
    .split(/\r?\n/)
    .entries())
    yield { place: `${name}:${index + 1}`, line };
}

function readRedirects(file: SourceFile, { redirects, unread }: FoundLines): void {
  for (const { place, line } of linesOf(file)) {
    const text = line.replace(/(?:^|\s)#.*$/, '').trim();
    if (text === '') continue;
    const read = readRedirect(place, text);
    if (typeof read === 'string') unread.push({ place, text, reason: read });
    else redirects.push(read);
  }
}

function readRedirect(place: string, text: string): RedirectLine | string {
  const [from = '', ...rest] = text.split(/\s+/);
  if (!/^(?:\/|https?:\/\/)/.test(from)) return 'its first word is no path and no URL';
  const query: (readonly [string, string])[] = [];
  while (rest.length > 0 && /^[^/=:][^/=]*=/.test(rest[0]!) && !/^https?:/.test(rest[0]!)) {
    const [name, value] = splitOnce(rest.shift()!);
    query.push([name, value]);
  }
  const isStatus = (word: string | undefined): boolean => /^[1-5]\d\d!?$/.test(word ?? '');
  const to = rest.length > 0 && !isStatus(rest[0]) ? rest.shift()! : null;
  const written = isStatus(rest[0]) ? rest.shift()! : null;
  const conditions = new Map<string, readonly string[]>();
  for (const word of rest) {
    const [name, value] = splitOnce(word);
    if (value === '') return `\`${word}\` is no condition`;
    conditions.set(
      name.toLowerCase(),
      value.split(',').filter((one) => one !== ''),
    );
  }
  if (to === null && written === null) return 'it names no target';
  if (to !== null && !/^(?:\/|https?:\/\/)/.test(to))
    return `\`${to}\` is no path and no URL of http or https`;
  const status = written === null ? null : Number(written.replace('!', ''));
  return { place, text, from, to, query, status, isForced: written?.endsWith('!') ?? false, conditions };
}

function splitOnce(word: string): readonly [string, string] {
  const at = word.indexOf('=');
  return at < 0 ? [word, ''] : [word.slice(0, at), word.slice(at + 1)];
}

function readHeaders(file: SourceFile, { headers, unread }: FoundLines): void {
  let path: string | null = null;
  for (const { place, line } of linesOf(file)) {
    const text = line.trim();
    if (text === '' || text.startsWith('#')) continue;
    if (!/^\s/.test(line)) {
      path = text;
      continue;
    }
    const [, removed] = /^!\s*([\w-]+)$/.exec(text) ?? [];
    const [, name, value] = /^([\w-]+)\s*:\s*(.*)$/.exec(text) ?? [];
    if (path === null) unread.push({ place, text, reason: 'it is below no path' });
    else if (removed !== undefined) headers.push({ place, text, path, name: removed, value: null });
    else if (name !== undefined && value !== '') headers.push({ place, text, path, name, value: value! });
    else unread.push({ place, text, reason: 'it has no name and value of a header' });
  }
}
