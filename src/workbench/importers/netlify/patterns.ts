/**
 * Paths of `_redirects` and `_headers` as tests of rules: `*` is the rest of the path, `:name` one segment. In: a path of the
 * file. Out: its host, its tests, and the regex with a group for each placeholder.
 */
import { normalizeName } from '../../../base/addresses/host.ts';
import { equalsText, escapeRegex, startsWithText, type TextTest } from '../text-test.ts';

/** What products do otherwise. */
export interface SiteDialect {
  /** The word of the command line, for messages. */
  readonly product: string;
  /** The status of a redirect that states none. */
  readonly status: number;
  /** A path is the same with and without its slash at the end. */
  readonly ignoresSlash: boolean;
  /** A file on the disk is served instead, unless a rule is forced. */
  readonly servesFiles: boolean;
  /** Rules may ask for countries, languages, cookies, roles and the query, and forward to other hosts. */
  readonly hasConditions: boolean;
  /** The values of a header in several blocks that match are joined. */
  readonly joinsHeaders: boolean;
}

/** A path pattern. */
export interface SitePattern {
  readonly host: string | null;
  /** `null`: both. */
  readonly scheme: 'http' | 'https' | null;
  readonly tests: readonly TextTest[];
  readonly isEvery: boolean;
  /** The regex whose groups are the placeholders; `null`: it has none. */
  readonly source: string | null;
  /** Names of the groups in order; `splat` for `*`. */
  readonly groups: readonly string[];
  /** The path before a `*` at the end; `null`: another form. */
  readonly before: string | null;
}

/** Reads a pattern; a text is the reason why it cannot be read. */
export function readSitePattern(written: string, dialect: SiteDialect): SitePattern | string {
  const [, scheme = null, authority = null, rest = ''] =
    /^(?:(https?):\/\/([^/]+))?(\/.*)?$/.exec(written) ?? [];
  if (authority === null && !written.startsWith('/')) return 'it is no path and no URL of http or https';
  const host = authority === null ? null : normalizeName(authority.replace(/:\d+$/, ''));
  if (authority !== null && (host === null || /[*:]/.test(host)))
    return `\`${authority}\` is no literal host`;
  const path = rest === '' ? '/' : rest.split(/[?#]/)[0]!;
  const pieces = path.match(/\*|:[A-Za-z]\w*|[^*:]+|:/g) ?? [];
  const groups = pieces.flatMap((piece) =>
    piece === '*' ? ['splat'] : /^:\w/.test(piece) ? [piece.slice(1)] : [],
  );
  if (groups.filter((name) => name === 'splat').length > 1) return 'it has more than one `*`';
  if (dialect.ignoresSlash && path.includes('*') && !path.endsWith('*')) return 'its `*` is not at the end';
  const place = { host, scheme: scheme as SitePattern['scheme'], groups };
  if (groups.length === 0) return { ...place, ...literalPath(path, dialect) };
  const isTail = groups.length === 1 && path.endsWith('/*');
  const before = isTail ? path.slice(0, -2) : null;
  const isEvery = path === '/*';
  const below = startsWithText(`${decoded(before ?? '')}/`);
  const own = dialect.ignoresSlash ? [equalsText(decoded(before ?? '')), below] : [below];
  const source = sourceOf(pieces, dialect);
  const tests: readonly TextTest[] = isTail ? own : [{ kind: 'regex', source }];
  return { ...place, tests, isEvery, source, before };
}

function literalPath(path: string, { ignoresSlash }: SiteDialect) {
  const bare = decoded(path.replace(/\/+$/, ''));
  const both = bare === '' ? [equalsText('/')] : [equalsText(bare), equalsText(`${bare}/`)];
  const tests = ignoresSlash ? both : [equalsText(decoded(path))];
  return { tests, isEvery: false, source: null, before: null };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function sourceOf(pieces: readonly string[], { ignoresSlash }: SiteDialect): string {
  const parts = pieces.map((piece, index) => {
    if (piece === '*') return '(.*)';
    if (/^:\w/.test(piece)) return '([^/]+)';
    const text = decoded(piece);
    const isBeforeSplat = ignoresSlash && pieces[index + 1] === '*' && text.endsWith('/');
    return escapeRegex(
      isBeforeSplat
        ? text.slice(0, -1)
        : ignoresSlash && index === pieces.length - 1
          ? text.replace(/\/$/, '')
          : text,
    );
  });
  if (!ignoresSlash) return `^${parts.join('')}$`;
  if (pieces.at(-1) === '*') return `^${parts.slice(0, -1).join('')}(?:/(.*))?$`;
  return `^${parts.join('')}/?$`;
}

/** A target with the groups of a pattern, `$$` for `$`; a text in an object is the reason why it is not exact. */
export function fillTarget(
  to: string,
  groups: readonly string[],
): { readonly target: string; readonly hasGroups: boolean } | { readonly reason: string } {
  let hasGroups = false;
  let reason: string | null = null;
  const [, head = '', tail = to] = /^(https?:\/\/[^/?#]*)?(.*)$/s.exec(to) ?? [];
  if (/:[A-Za-z]/.test(head.replace(/^https?:/, '')))
    reason = 'a placeholder is in the host of the target, which is literal text';
  const target = tail.replace(/:([A-Za-z]\w*)|\$/g, (mark, name?: string) => {
    if (name === undefined) return '$$';
    const index = groups.indexOf(name);
    if (index < 0) return mark;
    hasGroups = true;
    return `\${${index + 1}}`;
  });
  return reason === null ? { target: head + target, hasGroups } : { reason };
}
