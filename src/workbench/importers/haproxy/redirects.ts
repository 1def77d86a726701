/** `redirect` and `http-request redirect` as redirect rules. */
import { REDIRECT_STATUSES } from '../../../base/vocabulary/vocabulary.ts';
import { addRule, type DraftEntry, markDifference, markMissing } from '../draft.ts';
import { filtersOf, type ImportedCondition, type ImportedFilter, ruleFields } from '../filter.ts';
import { addAlternatives } from '../guard.ts';
import { endsWithText, equalsText, literalOf } from '../text-test.ts';
import { allOf, anyOf, entryOf, type HaproxyImport, noneOf, simplified, type Walk } from './context.ts';
import { hostName } from './host-names.ts';
import { type FormatPiece, formatPieces } from './log-format.ts';
import { mapEntries } from './maps.ts';
import type { HaproxyLine } from './parse-haproxy.ts';
import type { HaproxyContext } from './read-criterion.ts';
import { filterParts } from './refusals.ts';

/** A redirect as it is written. */
interface WrittenRedirect {
  readonly pieces: readonly FormatPiece[];
  readonly status: number;
  readonly appendsSlash: boolean;
  readonly differences: readonly string[];
}

/** The words and the condition of a line. */
export interface ActionLine {
  readonly words: readonly string[];
  readonly condition: ImportedCondition;
}

const KINDS = ['location', 'prefix', 'scheme'];

/** Adds the rules of a redirect. */
export function addRedirect(
  state: HaproxyImport,
  walk: Walk,
  line: HaproxyLine,
  { words, condition }: ActionLine,
): void {
  const entry = entryOf(state, line);
  const inSource = allOf(condition, ...noneOf(walk.allowed));
  walk.ended.push(inSource);
  const written = line.hasVariable
    ? 'it depends on the environment of HAProxy'
    : readRedirect(words, line.words[0] === 'redirect');
  const asked = allOf(inSource, walk.scope);
  const carried = typeof written === 'string' ? null : addWritten(state, entry, { written, asked, walk });
  if (typeof written === 'string') markMissing(entry, written);
  walk.leaked.push(carried === null ? inSource : allOf(inSource, ...noneOf([carried])));
  if (carried === null || typeof written === 'string') return;
  for (const one of written.differences) markDifference(entry, one);
  walk.carried.push(allOf(inSource, carried));
}

/**
 * The requests that a redirect takes elsewhere. One to the URL of the request itself is left out by the edge, so that guards
 * behind it act on such requests.
 */
function elsewhere({ target, preserve_path }: TargetFields, appendsSlash: boolean): ImportedCondition {
  if (appendsSlash) return { kind: 'not', of: { kind: 'path', tests: [endsWithText('/')] } };
  const [, scheme, host = ''] = /^(https?):\/\/([^/?#]*)/i.exec(target) ?? [];
  if (scheme === undefined) {
    if (preserve_path) return { kind: 'constant', value: target !== '/' };
    return { kind: 'not', of: { kind: 'path', tests: [equalsText(target.split(/[?#]/)[0]!)] } };
  }
  const name = hostName(host);
  const values = [scheme.toLowerCase()];
  const others: ImportedCondition[] = [{ kind: 'fact', fact: { member: 'schemes', values, negated: true } }];
  if (name !== null) others.push({ kind: 'not', of: { kind: 'host', tests: [equalsText(name)] } });
  return anyOf(others);
}

/** Reads the words behind `redirect`; a text is the reason why they have no equivalent. */
function readRedirect(words: readonly string[], isOld: boolean): WrittenRedirect | string {
  const at = words.findIndex((word) => KINDS.includes(word));
  const [kind = '', value = ''] = at < 0 ? [] : words.slice(at);
  if (kind === '') return `\`${words.join(' ')}\` names no target`;
  const options = words.filter((_, index) => index !== at && index !== at + 1);
  const code = Number(options[options.indexOf('code') + 1] ?? 302);
  const status = options.includes('code') ? code : 302;
  const differences: string[] = [];
  if (options.some((word) => word.startsWith('set-cookie') || word.startsWith('clear-cookie')))
    differences.push('the redirect of the rule sets no cookie');
  const own = isOld ? [{ kind: 'text', text: value } as const] : formatPieces(value);
  if (typeof own === 'string') return `\`${own}\` has no equivalent in a target`;
  const uri: FormatPiece = { kind: options.includes('drop-query') ? 'path' : 'uri' };
  const before = kind === 'prefix' && isOld && value === '/' ? [] : own;
  const pieces: readonly FormatPiece[] =
    kind === 'scheme'
      ? [...own, { kind: 'text', text: '://' }, { kind: 'host' }, uri]
      : kind === 'prefix'
        ? [...before, uri]
        : options.includes('keep-query')
          ? [...own, { kind: 'query' }]
          : own;
  const appendsSlash = options.includes('append-slash') && kind !== 'location';
  return { pieces, status, appendsSlash, differences };
}

/** What a target is made for. */
interface Target {
  readonly written: WrittenRedirect;
  readonly asked: ImportedCondition;
  readonly walk: Walk;
}

const UNMET = 'no request meets its condition';

/** Adds the rules; the condition of the requests that they answer, `null`: none. */
function addWritten(state: HaproxyImport, entry: DraftEntry, target: Target): ImportedCondition | null {
  const { written, asked, walk } = target;
  const map = written.pieces.find((piece) => piece.kind === 'sample');
  if (map !== undefined) {
    const context: HaproxyContext = { state, walk, isGuard: false, differences: [] };
    const entries = mapEntries(context, map.calls);
    if (typeof entries === 'string') {
      markMissing(entry, `\`${map.text}\` ${entries}`);
      return null;
    }
    const all = entries.map(({ condition, value }) => {
      const pieces = written.pieces.map(
        (piece): FormatPiece => (piece === map ? { kind: 'text', text: value } : piece),
      );
      const own = { ...target, written: { ...written, pieces }, asked: allOf(condition, asked) };
      return addWritten(state, entry, own);
    });
    return entry.becomes.length === 0 ? null : anyOf(all.filter((one) => one !== null));
  }
  if (!written.pieces.some(({ kind }) => kind === 'host' || kind === 'bare_host'))
    return addTarget(state, entry, target, null);
  const carried: ImportedCondition[] = [];
  for (const host of state.hosts) {
    const own = { ...target, asked: allOf({ kind: 'host', tests: [equalsText(host)] }, asked) };
    const one = addTarget(state, entry, own, host);
    if (one !== null) carried.push(one);
    else if (entry.outcome === 'not_carried') return null;
  }
  const exact: ImportedCondition = { kind: 'host', tests: [...state.hosts].map(equalsText) };
  const others = filtersOf(allOf(...noneOf([exact]), asked));
  if (state.wildcards.size > 0 && (!others.ok || others.filters.length > 0))
    markDifference(
      entry,
      'requests for hosts that the file does not name one by one are not redirected: the target of a rule is literal',
    );
  return carried.length === 0 ? null : simplified(anyOf(carried));
}

/** Adds the rules of one target; the requests that they answer, `null`: none. */
function addTarget(
  state: HaproxyImport,
  entry: DraftEntry,
  { written, asked, walk }: Target,
  host: string | null,
): ImportedCondition | null {
  const fields = targetFields(written, host);
  if (typeof fields === 'string') {
    markMissing(entry, fields);
    return null;
  }
  if (walk.changes.some(({ target }) => target === 'path') && fields.preserve_path)
    markDifference(entry, 'the path is that of the visitor, not the one that the lines before have changed');
  const known: readonly number[] = REDIRECT_STATUSES;
  const status_code = known.includes(written.status) ? written.status : 302;
  if (status_code !== written.status)
    markDifference(entry, `the rule answers ${status_code}; HAProxy answers ${written.status}`);
  const emit = (filter: ImportedFilter): string | null => {
    if (written.appendsSlash) return emitSlash(state, entry, { filter, fields: { ...fields, status_code } });
    for (const part of filterParts(filter))
      addRule(state.draft, entry, 'redirect', { ...ruleFields(part), ...fields, status_code });
    return null;
  };
  const isAdded = addAlternatives(state.draft, entry, {
    condition: asked,
    differences: [],
    unmet: UNMET,
    emit,
  });
  return isAdded ? allOf(asked, elsewhere(fields, written.appendsSlash)) : null;
}

/** The fields of a target. */
interface TargetFields {
  readonly target: string;
  readonly preserve_path: boolean;
  readonly preserve_query: boolean;
}

function targetFields({ pieces }: WrittenRedirect, host: string | null): TargetFields | string {
  let target = '';
  let [path, query] = [false, false];
  for (const [index, piece] of pieces.entries()) {
    const { kind } = piece;
    if (kind === 'text' && path && piece.text === '?' && pieces[index + 1]?.kind === 'query') continue;
    if (kind === 'query') query = true;
    else if (path || query) return 'text behind the path cannot be appended to a target';
    else if (kind === 'text') target += piece.text;
    else if (kind === 'host') target += host;
    else if (kind === 'bare_host') target += host!.replace(/^www\./, '');
    else if (kind === 'path' || kind === 'uri') {
      path = true;
      query = kind === 'uri';
    } else return `\`${kind}\` has no equivalent in a target`;
  }
  if (query && !path) target = target.replace(/\?$/, '');
  if (path && /[^/:]\/$/.test(target)) return 'the target ends with a slash before that of the path';
  return { target: target === '' ? '/' : target, preserve_path: path, preserve_query: query };
}

/** A redirect to the path with a slash at its end: a literal, or a capture of the regex of the condition. */
function emitSlash(
  state: HaproxyImport,
  entry: DraftEntry,
  {
    filter,
    fields,
  }: { readonly filter: ImportedFilter; readonly fields: TargetFields & { status_code: number } },
): string | null {
  const { target, preserve_path: _, ...others } = fields;
  const before = target.replace(/\/$/, '');
  for (const test of filter.pathIncludes ?? []) {
    const literal = literalOf(test);
    const inner = test.kind === 'regex' ? /^\^\/([^|]*[^\\/|])\$$/.exec(test.source)?.[1] : undefined;
    if (literal === null && inner === undefined)
      return 'a slash is appended to the path, which a target has for single paths and for a regex from `^/` to `$` alone';
    if (literal !== null) {
      const slashed = { ...others, target: before + (literal.endsWith('/') ? literal : `${literal}/`) };
      addRule(state.draft, entry, 'redirect', {
        ...ruleFields({ ...filter, pathIncludes: [test] }),
        ...slashed,
      });
      continue;
    }
    const paths = { ...filter, pathIncludes: [{ kind: 'regex' as const, source: `^/(${inner})$` }] };
    const open = { ...paths, pathExcludes: [...filter.pathExcludes, endsWithText('/')] };
    const slashed = { ...others, target: `${before}/\${1}/`, target_mode: 'captures' };
    addRule(state.draft, entry, 'redirect', { ...ruleFields(open), ...slashed });
    addRule(state.draft, entry, 'redirect', { ...ruleFields(paths), ...fields });
  }
  return filter.pathIncludes === null ? 'a slash is appended to every path' : null;
}
