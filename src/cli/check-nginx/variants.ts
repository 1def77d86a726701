/**
 * What the conditions of a configuration ask of a request beside its place, as variants of one: methods, headers, query parameters
 * and cookies with values on both sides of each comparison.
 */
import { METHODS as KNOWN_METHODS } from 'node:http';
import type { NginxDirective } from '../../workbench/importers/nginx/parse-nginx.ts';

/** What one request has otherwise than the plain one. */
export interface RequestVariant {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly query?: string;
}

/** Methods of every configuration that names one. */
const METHODS = ['HEAD', 'PUT', 'OPTIONS', 'PATCH', 'PROPFIND', 'LINK'];
/** Values of one variable at most. */
const MAX_VALUES = 24;
/** Texts of one regex at most. */
const MAX_SAMPLES = 12;
/** Values of one variable that are combined with those of the next. */
const COMBINED = 4;

/** All directives, with those of blocks. */
export function flatten(directives: readonly NginxDirective[]): readonly NginxDirective[] {
  return directives.flatMap((one) => [one, ...flatten(one.block ?? [])]);
}

/** The variants of a configuration. */
export function variantsOf(directives: readonly NginxDirective[]): readonly RequestVariant[] {
  const families = [...variablesOf(flatten(directives))].map(([name, values]) =>
    [...values].slice(0, MAX_VALUES).flatMap((value) => variantsFor(name, value)),
  );
  const combined = families.flatMap((family, index) => {
    const next = families[index + 1]?.slice(0, COMBINED) ?? [];
    return family.slice(0, COMBINED).flatMap((one) => next.map((other) => bothVariants(one, other)));
  });
  return [...families.flat(), ...combined];
}

function bothVariants(one: RequestVariant, other: RequestVariant): RequestVariant {
  const queries = [one.query, other.query].filter((query) => query !== undefined);
  return {
    ...one,
    ...other,
    headers: { ...one.headers, ...other.headers },
    ...(queries.length === 0 ? {} : { query: queries.join('&') }),
  };
}

/** The variables that a configuration reads, with values; the empty text is a value of each. */
function variablesOf(all: readonly NginxDirective[]): ReadonlyMap<string, ReadonlySet<string>> {
  const found = new Map<string, Set<string>>();
  const add = (name: string, values: readonly string[]): void => {
    const own = found.get(name) ?? new Set(['', '0', 'zz']);
    for (const value of values) own.add(value);
    found.set(name, own);
  };
  for (const { name, args, block } of all) {
    for (const word of args) for (const variable of namesIn(word)) add(variable, []);
    const [variable] = namesIn(args[0] ?? '');
    if (variable === undefined) {
      if (name === 'limit_except') add('request_method', args);
      continue;
    }
    if (name === 'if') add(variable, samplesOf(args[1] ?? '', (args[2] ?? '').replace(/\)$/, '')));
    if (name !== 'map') continue;
    for (const { name: key } of block ?? []) {
      const [, operator = '=', text = ''] = /^(~\*?)?(.*)$/s.exec(key) ?? [];
      if (!['default', 'hostnames', 'volatile'].includes(key)) add(variable, samplesOf(operator, text));
    }
  }
  return found;
}

/** The variables in a word that say something of a request. A visitor of the edge has no forwarding headers. */
function namesIn(word: string): readonly string[] {
  const names = [...word.matchAll(/\$\{?((?:http|arg|cookie)_\w+|request_method|content_type)/g)].map(
    ([, name]) => name!,
  );
  return names.filter((name) => !/^http_(?:host|x_forwarded_proto|upgrade|connection)$/.test(name));
}

/** Values on both sides of a comparison. */
function samplesOf(operator: string, operand: string): readonly string[] {
  const samples = operator.includes('~') ? matchesOf(operand) : [operand];
  return samples.flatMap((text) => [text, `${text}x`, `x${text}`, text.toUpperCase(), text.toLowerCase()]);
}

/** Texts that a regex may match: each alternative of its groups, with one character for each class. */
function matchesOf(source: string): readonly string[] {
  const open = [source.replace(/^\(\?\w+\)/, '')];
  const found = new Set<string>();
  for (let text = open.shift(); text !== undefined && found.size < MAX_SAMPLES; text = open.shift()) {
    const group = /(?<!\\)\((?:\?(?::|P?<\w+>))?([^()]*)\)[*+?]?/.exec(text);
    if (group !== null && open.length < MAX_SAMPLES * MAX_SAMPLES) {
      for (const one of group[1]!.split('|'))
        open.push(text.slice(0, group.index) + one + text.slice(group.index + group[0].length));
      continue;
    }
    for (const one of text.split('|')) found.add(literalOf(one));
  }
  return [...found];
}

/** A text of a regex without groups. */
function literalOf(source: string): string {
  return source
    .replace(/^\^|(?<!\\)\$$/g, '')
    .replace(/\\d/g, '1')
    .replace(/\\w/g, 'a')
    .replace(/\\s/g, ' ')
    .replace(/\[\^?(.)[^\]]*\]/g, '$1')
    .replace(/(?<!\\)\.[*+]\??/g, 'a')
    .replace(/(?<!\\)(?:[*+?]|\{\d+,?\d*\})/g, '')
    .replace(/(?<!\\)\./g, 'a')
    .replace(/\\(.)/g, '$1');
}

/** The variants in which a variable has a value, or seems to. */
function variantsFor(variable: string, value: string): readonly RequestVariant[] {
  if (/[^\x20-\x7e]/.test(value)) return [];
  if (variable === 'request_method') return methodsFor(value);
  if (variable === 'content_type') return [{ headers: { 'content-type': value } }];
  const [, kind, name = ''] = /^(http|arg|cookie)_(\w+)$/.exec(variable) ?? [];
  if (kind === 'http') return [{ headers: { [name.replaceAll('_', '-')]: value.trim() } }];
  if (kind === 'cookie') {
    if (/[;,\s]/.test(value)) return [];
    const cookies = [
      `${name}=${value}`,
      `${otherCase(name)}=${value}`,
      `${name}=zz; ${name}=${value}`,
      `a=b; ${name}=${value}; c`,
    ];
    return cookies.map((cookie) => ({ headers: { cookie } }));
  }
  if (/[&#\s]/.test(value)) return [];
  const queries = [
    `${name}=${value}`,
    `${otherCase(name)}=${value}`,
    `${name}=zz&${name}=${value}`,
    `${name}=${value}&${name}=zz`,
  ];
  return [...queries, ...(value === '' ? [name] : [])].map((query) => ({ query }));
}

/** A method, and with the empty text all others. The local origins know no method but those of Node. */
function methodsFor(value: string): readonly RequestVariant[] {
  const named = value === '' ? METHODS : [value];
  const sent = named.filter(
    (method) => KNOWN_METHODS.includes(method) && !['CONNECT', 'TRACE'].includes(method),
  );
  return sent.map((method) => ({ method }));
}

function otherCase(name: string): string {
  return name === name.toUpperCase() ? name.toLowerCase() : name.toUpperCase();
}
