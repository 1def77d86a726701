/**
 * Large tables of redirects. In: an `if` on the variable of a `map` over the path, whose body redirects to a target with it. Out: a
 * list of redirects with the literal keys, the rule that answers from it, and the `map` that is left for other rules.
 */
import { MAX_FILE_OCTETS } from '../../../base/vocabulary/limits.ts';
import { type EntryList, type ListEntry, readEntries } from '../../../rules/model/lists.ts';
import { addRule, type DraftEntry, type ImportDraft, markDifference, markMissing } from '../draft.ts';
import { type ImportedFilter, MAX_CASELESS_KEYS, ruleFields } from '../filter.ts';
import { equalsText, passes } from '../text-test.ts';
import { differ, entryOf, type NginxImport } from './context.ts';
import type { NginxDirective } from './parse-nginx.ts';
import { isRedirect, type RedirectSource, redirectOf, returnedRedirect } from './redirects.ts';
import { matchesAll, type RedirectTarget, type RewriteScope, redirectTarget } from './targets.ts';

/** Characters of lists in a file, which has the rules as well. */
const MAX_INLINE_CHARACTERS = MAX_FILE_OCTETS / 2;
/** Keys without an entry that the report names one by one. */
const MAX_NAMED_KEYS = 3;

/** A table of redirects: what it maps, and what its `if` does. */
interface RedirectTable {
  readonly name: string;
  readonly map: NginxDirective;
  /** Keys that are texts, with their values. */
  readonly literal: readonly NginxDirective[];
  /** The rest of the map that decides something. */
  readonly others: readonly NginxDirective[];
  readonly body: NginxDirective;
  readonly source: RedirectSource;
}

/**
 * Adds the list of a table and its rule. Returns the state in which the `map` has what is left of it, `done` where nothing is
 * left; `null`: the `if` is no such table, and nothing was added.
 */
export function listRedirects(
  state: NginxImport,
  directive: NginxDirective,
  world: RewriteScope,
): NginxImport | 'done' | null {
  const table = tableOf(state, directive);
  if (table === null || world.onPlain === true || world.rewritten !== undefined) return null;
  const filter = { ...world.filter, pathIncludes: null, pathExcludes: [] };
  const read = readTable(table, world);
  if (read === null || read.entries.length === 0) return null;
  const { draft } = state;
  const list = listNamed(draft, table.name, read.entries);
  if (list === null) {
    const name = table.name.toLowerCase();
    const reason = `its targets are longer than an edge file; write them into \`lists/${name}.txt\` beside it, and a rule with \`targets: "@${name}"\``;
    markMissing(entryOf(state, table.body), reason);
    return 'done';
  }
  draft.lists.set(list.name, list);
  const [entry] = [table.body, directive, table.map].map((one) => entryOf(state, one));
  const { preserve_query } = read.target;
  const fields = { ...ruleFields(filter), targets: `@${list.name}`, preserve_query };
  if (!addRule(draft, entry!, 'redirect', { ...fields, status_code: table.source.status })) return 'done';
  differ(entry!, [...read.target.differences, ...world.differences]);
  stateDifferences(entry!, table, read.refused);
  const tests = read.entries.map(({ value }) => equalsText(value));
  world.earlier.push({
    filter: { ...filter, pathIncludes: tests },
    place: entry!.place,
    leadsElsewhere: false,
  });
  if (table.others.length === 0) return 'done';
  const rest = { ...table.map, block: table.others };
  state.entries.set(rest, entryOf(state, table.map));
  return { ...state, maps: new Map(state.maps).set(table.name, rest) };
}

/** Reads the table of an `if`; `null`: it has another form. */
function tableOf(state: NginxImport, { args, block }: NginxDirective): RedirectTable | null {
  const name = /^\(\s*\$\{?(\w+)\}?\s*(?:!=\s*(?:""|''|)\s*)?\)$/.exec(args.join(' '))?.[1];
  const map = name === undefined ? undefined : state.maps.get(name);
  const [body, ...more] = block ?? [];
  if (name === undefined || map === undefined || body === undefined || more.length > 0) return null;
  const of = sourceOf(map);
  if (!['uri', 'document_uri', 'request_uri'].includes(of)) return null;
  const source = redirectSource(body);
  const entries = (map.block ?? []).filter((one) => !['hostnames', 'volatile'].includes(one.name));
  const isSet = ({ args: [value = ''] }: NginxDirective): boolean => value !== '' && value !== '0';
  const literal = entries.filter((one) => !one.name.startsWith('~') && one.name !== 'default');
  const others = entries.filter((one) => !literal.includes(one) && (one.name.startsWith('~') || isSet(one)));
  const isExcepted = others.length > 0 && !literal.every(isSet);
  if (source === null || isExcepted || entries.some(({ unread }) => unread !== undefined)) return null;
  const most = of === 'request_uri' ? 0 : MAX_CASELESS_KEYS;
  const used = literal.filter(isSet);
  return used.length > most ? { name, map, literal: used, others, body, source } : null;
}

/** The variable that a `map` reads. */
function sourceOf({ args }: NginxDirective): string {
  return (args[0] ?? '').replace(/[${}]/g, '');
}

/** The redirect of a body; `null`: it does something else, or redirects some paths alone. */
function redirectSource(body: NginxDirective): RedirectSource | null {
  if (body.name === 'return') return returnedRedirect(body, null);
  const [regex = ''] = body.args;
  return body.name === 'rewrite' && matchesAll(regex) && isRedirect(body)
    ? redirectOf(body, { capture: null, groups: null })
    : null;
}

/** A key without an entry, and why. */
interface RefusedKey {
  readonly key: string;
  readonly reason: string;
}

/** The entries of a table, and what its targets have in common. */
interface ReadTable {
  readonly entries: readonly ListEntry[];
  readonly refused: readonly RefusedKey[];
  readonly target: RedirectTarget;
}

/** Reads the entries of a table; `null`: a target is not literal. */
function readTable({ name, literal, source }: RedirectTable, world: RewriteScope): ReadTable | null {
  const host = world.hosts.length === 1 && !world.hasOtherHosts ? world.hosts[0]! : null;
  const entries: ListEntry[] = [];
  const refused: RefusedKey[] = [];
  const seen = new Set<string>();
  let common: RedirectTarget | null = null;
  for (const one of literal) {
    const [value = ''] = one.args;
    const bindings = new Map(world.bindings).set(name, value);
    const target = redirectTarget(source.value, { host, bindings, capture: null }, source.appendsQuery);
    if (typeof target === 'string' || target.preserve_path) return null;
    common ??= target;
    if (target.preserve_query !== common.preserve_query) return null;
    const key = one.name.replace(/^\\/, '');
    // Of keys in several cases the first counts.
    if (seen.has(key.toLowerCase())) continue;
    seen.add(key.toLowerCase());
    if (!hasPath(world.filter, key)) continue;
    const read = readEntries('redirect', [{ from: writtenPath(key), to: target.target }]);
    if (read.ok) entries.push(...read.entries);
    else refused.push({ key, reason: read.diagnostics[0]!.message });
  }
  return common === null ? null : { entries, refused, target: common };
}

/** Whether a filter lets requests of a path through, as far as the path decides. */
function hasPath({ pathIncludes, pathExcludes }: ImportedFilter, path: string): boolean {
  const isIn = pathIncludes?.some((test) => passes(test, path)) ?? true;
  return isIn && !pathExcludes.some((test) => passes(test, path));
}

/** A path as entries of lists have it; their escapes are decoded once. */
function writtenPath(path: string): string {
  return path.replace(/[%*?#]/g, (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`);
}

/** States how the list compares otherwise than the map. */
function stateDifferences(
  entry: DraftEntry,
  { name, map }: RedirectTable,
  refused: readonly RefusedKey[],
): void {
  markDifference(entry, `paths of \`$${name}\` are compared with case; nginx ignores it`);
  if (sourceOf(map) === 'request_uri')
    markDifference(
      entry,
      `paths of \`$${name}\` are compared decoded and without the query; nginx compares both as they were sent`,
    );
  for (const { key, reason } of refused.slice(0, MAX_NAMED_KEYS))
    markDifference(entry, `\`${key}\` is not in the list: it ${reason}`);
  const more = refused.length - MAX_NAMED_KEYS;
  if (more > 0) markDifference(entry, `${more} more keys are not in the list`);
}

/** The list of a table: one that the draft has already, or a new one; `null`: the file has no room for it. */
function listNamed(
  { lists }: ImportDraft,
  variable: string,
  entries: readonly ListEntry[],
): EntryList | null {
  const plain = variable.toLowerCase().replace(/^_+/, '').slice(0, 60);
  const base = plain === '' ? 'redirects' : plain;
  const written = JSON.stringify(entries);
  const size = [...lists.values()].reduce((sum, list) => sum + JSON.stringify(list.entries).length, 0);
  for (let number = 1; ; number++) {
    const name = number === 1 ? base : `${base}-${number}`;
    const known = lists.get(name);
    if (known === undefined)
      return size + written.length > MAX_INLINE_CHARACTERS ? null : { name, kind: 'redirect', entries };
    if (known.kind === 'redirect' && JSON.stringify(known.entries) === written) return known;
  }
}
