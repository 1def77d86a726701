/** Reads the conditions of `if` and the tables of `map` as far as rules can express them. */
import { normalizeName } from '../../../base/addresses/host.ts';
import { type AddressSet, readAddresses, uniteAddresses } from '../addresses.ts';
import { addressFilter, EVERY_REQUEST, type ImportedFilter } from '../filter.ts';
import { MAX_CASELESS_KEYS } from '../limits.ts';
import { endsWithText, equalsText, passes, regexText, type TextTest, withoutCase } from '../text-test.ts';
import { addressTable, isByAddress } from './address-tables.ts';
import type { NginxImport } from './context.ts';
import type { NginxDirective } from './parse-nginx.ts';
import { pathRegex } from './regions.ts';

/** One case in which a condition holds. */
export interface NginxCase {
  readonly filter: ImportedFilter;
  /** Variables with the values they have in this case. */
  readonly bindings: ReadonlyMap<string, string>;
  /** How the case differs. */
  readonly differences?: string;
}

/** Variables whose values rules can test. */
const HOST_VARIABLES = ['host', 'http_host'];
const PATH_VARIABLES = ['uri', 'document_uri'];

/** The cases in which an `if` holds, in order; a text is the reason why they cannot be written. */
export function casesOfIf(
  state: NginxImport,
  { args }: NginxDirective,
  bindings: ReadonlyMap<string, string | null> = new Map(),
): readonly NginxCase[] | string {
  const text = args
    .join(' ')
    .replace(/^\(\s*/, '')
    .replace(/\s*\)$/, '');
  const [, name, operator, operand = ''] =
    /^\$\{?([A-Za-z0-9_]+)\}?(?:\s*(!=|=|!~\*|!~|~\*|~)\s*(.*))?$/s.exec(text) ?? [];
  if (name === undefined) return `\`${text}\` has no equivalent in a filter`;
  const bound = bindings.get(name);
  if (bound === null) return `\`$${name}\` depends on the request here`;
  if (bound !== undefined && !bound.includes('$')) return constantCase(bound, operator, operand);
  if (bound !== undefined) return `\`$${name}\` has other variables, which no rule compares`;
  if (isByAddress(state, name)) return casesOfTable(state, name, { operator, operand });
  if (operator === undefined) return state.maps.has(name) ? casesOfMap(state, name) : noFilter(name);
  const filter = testOf(name, operator, operand);
  return typeof filter === 'string' ? filter : [{ filter, bindings: new Map() }];
}

/** The case of a comparison with a variable that the address decides. */
function casesOfTable(
  state: NginxImport,
  name: string,
  { operator, operand }: { readonly operator: string | undefined; readonly operand: string },
): readonly NginxCase[] | string {
  const table = addressTable(state, name);
  if (typeof table === 'string') return table;
  const met: AddressSet[] = [];
  for (const [value, addresses] of table) {
    const cases = constantCase(value, operator, operand);
    if (typeof cases === 'string') return cases;
    if (cases.length > 0) met.push(addresses);
  }
  if (met.length === table.size) return [{ filter: EVERY_REQUEST, bindings: new Map() }];
  if (met.length === 0) return [];
  return [{ filter: { ...EVERY_REQUEST, ...addressFilter(uniteAddresses(met)) }, bindings: new Map() }];
}

/** The cases of a comparison whose value is known: every request, or none. */
function constantCase(
  value: string,
  operator: string | undefined,
  operand: string,
): readonly NginxCase[] | string {
  const every: readonly NginxCase[] = [{ filter: EVERY_REQUEST, bindings: new Map() }];
  if (operator === undefined) return value !== '' && value !== '0' ? every : [];
  const isNegated = operator.startsWith('!');
  const ignoreCase = operator.endsWith('*');
  if (operator === '=' || operator === '!=') return (value === operand) !== isNegated ? every : [];
  const test = regexText(operand);
  if (typeof test === 'string') return test;
  return passes(ignoreCase ? withoutCase(test) : test, value) !== isNegated ? every : [];
}

function noFilter(name: string): string {
  return `no rule has a filter on \`$${name}\``;
}

/** The filter of one comparison. */
function testOf(name: string, operator: string, operand: string): ImportedFilter | string {
  const isNegated = operator.startsWith('!');
  if (name === 'remote_addr' && (operator === '=' || operator === '!=')) {
    const addresses = readAddresses(operand);
    if (addresses === null) return `\`${operand}\` is no address`;
    return { ...EVERY_REQUEST, [isNegated ? 'ipExcludes' : 'ipIncludes']: addresses };
  }
  const isHost = HOST_VARIABLES.includes(name);
  if (!isHost && !PATH_VARIABLES.includes(name)) return noFilter(name);
  const test = comparison(operator.replace('!', ''), operand, isHost);
  if (typeof test === 'string') return test;
  const field = `${isHost ? 'host' : 'path'}${isNegated ? 'Excludes' : 'Includes'}`;
  return { ...EVERY_REQUEST, [field]: [test] };
}

function comparison(operator: string, operand: string, isHost: boolean): TextTest | string {
  if (operator === '=') return equalsText(isHost ? operand.toLowerCase() : operand);
  if (isHost) {
    const test = regexText(operand);
    return typeof test === 'string' ? test : (literalHost(operand) ?? withoutCase(test));
  }
  const reason = regexText(operand);
  return pathRegex(operand, operator === '~*') ?? String(reason);
}

/** A host regex that is a literal: `^www\.example\.com$`. */
function literalHost(source: string): TextTest | null {
  const body = /^\^((?:[a-z0-9-]|\\\.)+)\$$/i.exec(source)?.[1];
  return body === undefined ? null : equalsText(body.replaceAll('\\', '').toLowerCase());
}

/** Words in a `map` that are no values of its source. */
const MAP_WORDS = ['default', 'hostnames', 'include', 'volatile'];

/** The cases in which a variable of a `map` is neither empty nor `0`. */
export function casesOfMap(state: NginxImport, name: string): readonly NginxCase[] | string {
  const map = state.maps.get(name)!;
  const source = (map.args[0] ?? '').replace(/[${}]/g, '');
  const isHost = HOST_VARIABLES.includes(source);
  if (!isHost && !PATH_VARIABLES.includes(source)) return `${noFilter(source)}, the source of \`$${name}\``;
  const entries = map.block ?? [];
  const isTrue = (value: string): boolean => value !== '' && value !== '0';
  const fallback = entries.find((one) => one.name === 'default')?.args[0] ?? '';
  if (isTrue(fallback))
    return `\`$${name}\` is set for every ${isHost ? 'host' : 'path'} (\`default ${fallback}\`)`;
  const cases: NginxCase[] = [];
  const hasNames = entries.some((one) => one.name === 'hostnames');
  // Exact values win over regexes, whatever their order.
  const literal = entries.filter((one) => !one.name.startsWith('~') && !MAP_WORDS.includes(one.name));
  const regexes = entries.filter((one) => one.name.startsWith('~'));
  // Each text without case is a regex, of which a domain has room for a few dozen.
  const hasMany = !isHost && literal.length > MAX_CASELESS_KEYS;
  const differences = hasMany ? `paths of \`$${name}\` are compared with case; nginx ignores it` : undefined;
  for (const entry of [...literal, ...regexes]) {
    const value = entry.args[0] ?? '';
    if (!isTrue(value)) return `\`${entry.name}\` of \`$${name}\` is an exception, which has no equivalent`;
    const isExact = hasMany && !entry.name.startsWith('~');
    const test = isExact ? equalsText(entry.name.replace(/^\\/, '')) : mapTest(entry.name, isHost, hasNames);
    if (typeof test === 'string') return test;
    const filter = { ...EVERY_REQUEST, [isHost ? 'hostIncludes' : 'pathIncludes']: [test] };
    cases.push({
      filter,
      bindings: new Map([[name, value]]),
      ...(differences === undefined ? {} : { differences }),
    });
  }
  return cases;
}

/** The test of one entry; literal values are compared without case. */
function mapTest(key: string, isHost: boolean, hasNames: boolean): TextTest | string {
  if (key.startsWith('~')) {
    const source = key.slice(key[1] === '*' ? 2 : 1);
    const test = isHost ? comparison('~', source, true) : pathRegex(source, key[1] === '*');
    return test ?? `\`${key}\` is not in RE2 syntax`;
  }
  const text = key.startsWith('\\') ? key.slice(1) : key;
  if (isHost && hasNames && text.startsWith('*.')) return endsWithText(text.slice(1).toLowerCase());
  if (isHost) {
    const host = normalizeName(text);
    return host === null ? `\`${text}\` is no host name` : equalsText(host);
  }
  // Paths without letters have no case.
  return /[a-z]/i.test(text) ? withoutCase(equalsText(text)) : equalsText(text);
}
