/**
 * Reads what a block changes of the headers of its responses and of the requests to its origin: `add_header`, `expires`,
 * `proxy_hide_header`, `proxy_set_header`, `more_set_headers` and its kin. In: blocks, the innermost first. Out: the changes in the
 * order in which nginx makes them; a directive that has none is marked in the report.
 */
import type { HeaderOp, HeaderSide, HeaderVariable } from '../../../base/vocabulary/vocabulary.ts';
import { judgeHeaderName, judgeHeaderValue } from '../../../rules/model/header-values.ts';
import { markDifference, markMissing, markNeedless } from '../draft.ts';
import { filtersOf, type ImportedFilter } from '../filter.ts';
import { entryOf, type NginxImport } from './context.ts';
import type { NginxDirective } from './parse-nginx.ts';
import { conditionWhere, tableOf, useTables } from './tables.ts';
import { type Bindings, valuePieces } from './targets.ts';

/** One change of a message. */
export interface NginxHeaderChange {
  readonly op: HeaderOp;
  readonly name: string;
  /** As headers rules have values; `null` under `remove`. */
  readonly value: string | null;
  readonly directive: NginxDirective;
  /** Directives that it replaces. */
  readonly also?: readonly NginxDirective[];
  /** How nginx decides otherwise, a sentence each. */
  readonly differences: readonly string[];
  /** Only requests of this filter; absent: all of the block. */
  readonly within?: ImportedFilter;
}

/** The blocks around requests, the innermost first, and what their variables are. */
export interface HeaderBlocks {
  readonly blocks: readonly (readonly NginxDirective[])[];
  readonly bindings: Bindings;
  /** The Host that the origin gets; empty: that of the visitor. */
  readonly hostHeader: string;
}

/** Variables of nginx by those of headers rules. */
const VARIABLES: Readonly<Record<string, HeaderVariable>> = {
  remote_addr: 'client_ip',
  host: 'host',
  http_host: 'host',
  scheme: 'scheme',
  request_method: 'method',
  request_id: 'request_id',
  geoip_country_code: 'client_country',
  geoip2_data_country_code: 'client_country',
  geoip2_data_country_iso_code: 'client_country',
};

/** Statuses to which nginx adds fields without `always`. */
const SUCCESSES: readonly number[] = [200, 201, 204, 206, 301, 302, 303, 304, 307, 308];

const ON_SUCCESS = `the edge adds it to responses of every status; nginx to ${SUCCESSES.slice(0, -1).join(', ')} and ${SUCCESSES.at(-1)} alone`;

/** The changes of a message of these blocks; `hidden`: of a response of the origin alone. */
export function headerChanges(
  state: NginxImport,
  scope: HeaderBlocks,
  side: HeaderSide | 'hidden',
): readonly NginxHeaderChange[] {
  const { blocks } = scope;
  const read = (names: readonly string[]): readonly NginxDirective[] => inherited(blocks, names);
  // Of headers-more the outer blocks come first, and all count.
  const more = (names: readonly string[]): readonly NginxDirective[] =>
    [...blocks].reverse().flatMap((block) => block.filter(({ name }) => names.includes(name)));
  if (side === 'hidden') return read(['proxy_hide_header']).flatMap((one) => hidden(state, one));
  if (side === 'request') {
    const input = more(['more_set_input_headers', 'more_clear_input_headers']);
    return [
      ...read(['proxy_set_header']).flatMap((one) => requestHeader(state, one, scope)),
      ...input.flatMap((one) => moreHeaders(state, one, { scope, side })),
    ];
  }
  return [
    ...read(['expires']).flatMap((one) => expires(state, one)),
    ...read(['add_header']).flatMap((one) => addedHeader(state, one, scope)),
    ...more(['more_set_headers', 'more_clear_headers']).flatMap((one) =>
      moreHeaders(state, one, { scope, side }),
    ),
  ];
}

/** The directives of these names of the innermost block that has one. */
function inherited(blocks: HeaderBlocks['blocks'], names: readonly string[]): readonly NginxDirective[] {
  const block = blocks.find((one) => one.some(({ name }) => names.includes(name))) ?? [];
  return block.filter(({ name }) => names.includes(name));
}

/** A value of a headers rule, or the reason why it has none. */
type TemplateValue =
  | { readonly ok: true; readonly value: string; readonly differences: readonly string[] }
  | { readonly ok: false; readonly reason: string };

/** Writes a value with the variables of headers rules. */
function templateOf(text: string, bindings: Bindings): TemplateValue {
  let value = '';
  const differences: string[] = [];
  for (const piece of valuePieces(text, bindings)) {
    if (piece.kind === 'text') {
      value += piece.text.replaceAll('$', '$$$$');
      continue;
    }
    const known = VARIABLES[piece.name];
    if (known === undefined) return { ok: false, reason: `no value of a header has \`$${piece.name}\`` };
    if (piece.name === 'http_host')
      differences.push('`${host}` has no port; `$http_host` has that of the request');
    value += `\${${known}}`;
  }
  const bare = value.replace(/^[\t ]+|[\t ]+$/g, '').replaceAll(/[\t ]*[\r\n]+[\t ]*/g, ' ');
  const problem = bare === '' ? null : judgeHeaderValue(bare);
  return problem === null
    ? { ok: true, value: bare, differences }
    : { ok: false, reason: `its value ${problem.message}` };
}

/** The change of a name, or none where the name is refused, which is marked. */
function changeOf(
  state: NginxImport,
  side: HeaderSide,
  change: Omit<NginxHeaderChange, 'differences'> & { readonly differences?: readonly string[] },
): readonly NginxHeaderChange[] {
  const problem = judgeHeaderName(change.name, { side, op: change.op });
  if (problem === null) return [{ differences: [], ...change }];
  markMissing(entryOf(state, change.directive), `\`${change.name}\` ${problem.message}`);
  return [];
}

/** The change of an `add_header`. */
function addedHeader(
  state: NginxImport,
  directive: NginxDirective,
  { bindings }: HeaderBlocks,
): readonly NginxHeaderChange[] {
  const [name = '', text = '', flag] = directive.args;
  const entry = entryOf(state, directive);
  const always = flag === 'always' ? [] : [ON_SUCCESS];
  // nginx has one of each of these and replaces it.
  const op = ['etag', 'last-modified'].includes(name.toLowerCase()) ? 'set' : 'add';
  const variable = /^\$\{?(\w+)\}?$/.exec(text)?.[1];
  if (variable !== undefined && !bindings.has(variable) && state.maps.has(variable))
    return mappedHeader(state, directive, { variable, op, bindings, always });
  const read = templateOf(text, bindings);
  if (!read.ok) {
    markMissing(entry, read.reason);
    return [];
  }
  if (read.value === '' && op === 'add') {
    markNeedless(entry, 'nginx adds no header without a value');
    return [];
  }
  const differences = [...always, ...read.differences];
  if (read.value === '')
    return changeOf(state, 'response', { op: 'remove', name, value: null, directive, differences });
  return changeOf(state, 'response', { op, name, value: read.value, directive, differences });
}

/** The changes of an `add_header` whose value a `map` has: one for each case with a value. */
function mappedHeader(
  state: NginxImport,
  directive: NginxDirective,
  {
    variable,
    op,
    bindings,
    always,
  }: {
    readonly variable: string;
    readonly op: HeaderOp;
    readonly bindings: Bindings;
    readonly always: readonly string[];
  },
): readonly NginxHeaderChange[] {
  const [name = ''] = directive.args;
  const table = tableOf(state, variable);
  if (typeof table === 'string') {
    markMissing(entryOf(state, directive), table);
    return [];
  }
  const changes: NginxHeaderChange[] = [];
  const values = new Set([...table.steps.map(({ value }) => value), table.fallback]);
  // nginx sends no header without a value.
  values.delete('');
  for (const value of values) {
    const read = templateOf(value, bindings);
    const cases = filtersOf(conditionWhere(table, (one) => one === value));
    if (!read.ok || !cases.ok) {
      markMissing(entryOf(state, directive), read.ok ? (cases as { reason: string }).reason : read.reason);
      return [];
    }
    const differences = [...always, ...read.differences];
    for (const within of cases.filters) {
      const change = { op, name, value: read.value, directive, differences, within };
      changes.push(...changeOf(state, 'response', change));
    }
  }
  useTables(state, variable);
  return changes;
}

/** Seconds of the units of nginx. */
const UNITS: Readonly<Record<string, number>> = {
  '': 1,
  s: 1,
  m: 60,
  h: 3600,
  d: 86_400,
  w: 604_800,
  M: 2_592_000,
  y: 31_536_000,
};

/** The `Cache-Control` and the `Expires` of an `expires`; the latter `null`: a time of each response. */
function expiryOf(time: string): { readonly control: string; readonly expires: string | null } | null {
  if (time === 'epoch') return { control: 'no-cache', expires: 'Thu, 01 Jan 1970 00:00:01 GMT' };
  if (time === 'max') return { control: 'max-age=315360000', expires: 'Thu, 31 Dec 2037 23:55:55 GMT' };
  if (!/^-?(?:\d+[smhdwMy]?)+$/.test(time)) return null;
  const parts = [...time.matchAll(/(\d+)([smhdwMy]?)/g)];
  const seconds = parts.reduce((sum, [, amount, unit]) => sum + Number(amount) * UNITS[unit ?? '']!, 0);
  return { control: time.startsWith('-') ? 'no-cache' : `max-age=${seconds}`, expires: null };
}

/** The changes of an `expires`. */
function expires(state: NginxImport, directive: NginxDirective): readonly NginxHeaderChange[] {
  const entry = entryOf(state, directive);
  const [time = ''] = directive.args;
  if (time === 'off') {
    markNeedless(entry, 'it sets no header');
    return [];
  }
  const expiry = directive.args.length > 1 ? null : expiryOf(time);
  if (expiry === null) {
    markMissing(entry, 'no value of a header is a time of day, of the file or of a variable');
    return [];
  }
  const differences = [ON_SUCCESS.replace('adds it', 'sets it')];
  const { control, expires: date } = expiry;
  const dated = { name: 'Expires', directive, differences: [] };
  if (date === null)
    differences.push('without `Expires`, which has a time of each response; `Cache-Control` wins over it');
  return [
    { op: 'set', name: 'Cache-Control', value: control, directive, differences },
    date === null ? { op: 'remove', value: null, ...dated } : { op: 'set', value: date, ...dated },
  ];
}

/** The change of a `proxy_hide_header`. */
function hidden(state: NginxImport, directive: NginxDirective): readonly NginxHeaderChange[] {
  const [name = ''] = directive.args;
  return changeOf(state, 'response', { op: 'remove', name, value: null, directive });
}

/** What the edge sets for each request, and what belongs to a connection. */
const OWN_HEADERS = ['x-forwarded-for', 'x-forwarded-proto', 'connection', 'upgrade'];

/** The change of a `proxy_set_header`. */
function requestHeader(
  state: NginxImport,
  directive: NginxDirective,
  { bindings, hostHeader }: HeaderBlocks,
): readonly NginxHeaderChange[] {
  const [name = '', text = ''] = directive.args;
  const lower = name.toLowerCase();
  // The Host is part of the origin.
  if (lower === 'host') return [];
  const entry = entryOf(state, directive);
  const own = text.replace(/^\$\{?(\w+)\}?$/, '$1');
  if (OWN_HEADERS.includes(lower)) {
    markNeedless(entry, 'the edge sets it on its own');
    return [];
  }
  if (own !== text && own === `http_${lower.replaceAll('-', '_')}`) {
    markNeedless(entry, 'the edge forwards it as the visitor sent it');
    return [];
  }
  if (lower === 'x-forwarded-host' && ['host', 'http_host'].includes(own)) {
    if (hostHeader !== '') markNeedless(entry, 'the edge sets it on its own');
    else
      markDifference(
        entry,
        'the edge sends it where it replaces the Host; here the origin gets the Host itself',
      );
    return [];
  }
  const read = templateOf(text, bindings);
  if (!read.ok) {
    markMissing(entry, read.reason);
    return [];
  }
  const { value, differences } = read;
  if (value === '') return changeOf(state, 'request', { op: 'remove', name, value: null, directive });
  return changeOf(state, 'request', { op: 'set', name, value, directive, differences });
}

/** The changes of a directive of headers-more, whose words are headers. */
function moreHeaders(
  state: NginxImport,
  directive: NginxDirective,
  { scope: { bindings }, side }: { readonly scope: HeaderBlocks; readonly side: HeaderSide },
): readonly NginxHeaderChange[] {
  const entry = entryOf(state, directive);
  const isClear = directive.name.startsWith('more_clear');
  if (directive.args.some((one) => one.startsWith('-'))) {
    markMissing(entry, 'no headers rule acts on statuses, types or present headers alone');
    return [];
  }
  const changes: NginxHeaderChange[] = [];
  for (const word of directive.args) {
    const colon = isClear ? -1 : word.indexOf(':');
    const name = (colon < 0 ? word : word.slice(0, colon)).trim();
    const read = templateOf(colon < 0 ? '' : word.slice(colon + 1), bindings);
    if (!read.ok || name.includes('*')) {
      markMissing(entry, read.ok ? 'no headers rule has names with wildcards' : read.reason);
      continue;
    }
    const { value, differences } = read;
    const change = value === '' ? ({ op: 'remove', value: null } as const) : ({ op: 'set', value } as const);
    changes.push(...changeOf(state, side, { ...change, name, directive, differences }));
  }
  return changes;
}
