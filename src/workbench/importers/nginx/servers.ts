/** Reads the `server` blocks of an nginx configuration: names, listeners, and which server answers a host on a port. */
import { normalizeName } from '../../../base/addresses/host.ts';
import { endsWithText, equalsText, passes, regexText, type TextTest, withoutCase } from '../text-test.ts';
import type { NginxDirective } from './parse-nginx.ts';

/** One `listen`. */
interface NginxListener {
  readonly port: number;
  readonly ssl: boolean;
  readonly isDefault: boolean;
}

/** One `server` block. */
export interface NginxServer {
  readonly directive: NginxDirective;
  readonly block: readonly NginxDirective[];
  /** Exact names, in lower case. */
  readonly exact: readonly string[];
  /** Names `*.x`, in lower case. */
  readonly wildcards: readonly string[];
  /** Regexes of names `~…`, without the `~`. */
  readonly regexes: readonly string[];
  /** Names that have no equivalent, such as `www.*`. */
  readonly unknown: readonly string[];
  readonly listeners: readonly NginxListener[];
  /** `$server_name`: the first name as it is written, without a dot before it. */
  readonly firstName: string;
}

/** Reads a server. */
export function readServer(directive: NginxDirective): NginxServer {
  const block = directive.block ?? [];
  const names = block.filter(({ name }) => name === 'server_name').flatMap(({ args }) => args);
  const exact: string[] = [];
  const wildcards: string[] = [];
  const regexes: string[] = [];
  const unknown: string[] = [];
  for (const written of names) {
    const name = written.toLowerCase();
    if (name === '' || name === '_') continue;
    if (name.startsWith('~')) regexes.push(written.slice(1));
    else if (name.startsWith('*.')) wildcards.push(name);
    else if (name.startsWith('.')) {
      exact.push(name.slice(1));
      wildcards.push(`*${name}`);
    } else if (name.includes('*') || name.includes('$') || normalizeName(name) === null)
      unknown.push(written);
    else if (name.includes('.')) exact.push(normalizeName(name)!);
    else unknown.push(written);
  }
  const sslOn = block.some(({ name, args }) => name === 'ssl' && args[0] === 'on');
  const listens = block.filter(({ name }) => name === 'listen').map(({ args }) => readListener(args, sslOn));
  const listeners = listens.length === 0 ? [{ port: 80, ssl: sslOn, isDefault: false }] : listens;
  return {
    directive,
    block,
    exact,
    wildcards,
    regexes,
    unknown,
    listeners,
    firstName: names[0]?.replace(/^\./, '').toLowerCase() ?? '',
  };
}

function readListener([address = '', ...flags]: readonly string[], sslOn: boolean): NginxListener {
  const port = /(?:^|:)(\d{1,5})$/.exec(address)?.[1];
  return {
    port: port === undefined ? 80 : Number(port),
    ssl: sslOn || flags.includes('ssl'),
    isDefault: flags.includes('default_server') || flags.includes('default'),
  };
}

/** Whether a server has names that requests can name. */
export function isNamed({ exact, wildcards, regexes }: NginxServer): boolean {
  return exact.length + wildcards.length + regexes.length > 0;
}

/**
 * The server that answers an exact host among those of one port: exact name, longest wildcard, first regex, the default
 * server (nginx, "Server names").
 */
export function serverOfHost(servers: readonly NginxServer[], host: string): NginxServer | null {
  const exact = servers.find((one) => one.exact.includes(host));
  if (exact !== undefined) return exact;
  let best: { readonly server: NginxServer; readonly length: number } | null = null;
  for (const server of servers) {
    for (const wildcard of server.wildcards) {
      if (!host.endsWith(wildcard.slice(1)) || (best !== null && best.length >= wildcard.length)) continue;
      best = { server, length: wildcard.length };
    }
  }
  if (best !== null) return best.server;
  const matching = servers.find((one) => hostRegexes(one).some((test) => passes(test, host)));
  return matching ?? null;
}

/** The server that answers hosts which no other names: the marked one, else the first. */
export function defaultServer(servers: readonly NginxServer[], port: number): NginxServer | null {
  const listening = servers.filter(({ listeners }) => listeners.some((one) => one.port === port));
  const marked = listening.find(({ listeners }) =>
    listeners.some((one) => one.port === port && one.isDefault),
  );
  return marked ?? listening[0] ?? null;
}

/** The tests of a server's regex names; nginx matches them without case, as hosts are in lower case. */
export function hostRegexes({ regexes }: NginxServer): readonly TextTest[] {
  return regexes.flatMap((source) => {
    const test = regexText(source);
    return typeof test === 'string' ? [] : [withoutCase(test)];
  });
}

/**
 * The hosts of a server as tests, and those that win over them: names of `rivals` as nginx orders names, all names of
 * `winners`.
 */
export function hostTests(
  server: NginxServer,
  { rivals, winners }: { readonly rivals: readonly NginxServer[]; readonly winners: readonly NginxServer[] },
): { readonly includes: readonly TextTest[]; readonly excludes: readonly TextTest[] } {
  const includes = [
    ...server.exact.map(equalsText),
    ...server.wildcards.map((name) => endsWithText(name.slice(1))),
    ...hostRegexes(server),
  ];
  const excludes: TextTest[] = [];
  for (const other of [...rivals, ...winners]) {
    for (const name of other.exact) {
      if (server.exact.includes(name) || !includes.some((test) => passes(test, name))) continue;
      excludes.push(equalsText(name));
    }
  }
  if (server.wildcards.length + server.regexes.length === 0) return { includes, excludes };
  for (const other of rivals) {
    if (other === server) continue;
    for (const name of other.wildcards) {
      const isInside = server.wildcards.some((own) => name !== own && name.endsWith(own.slice(1)));
      if (isInside || server.regexes.length > 0) excludes.push(endsWithText(name.slice(1)));
    }
    if (rivals.indexOf(other) < rivals.indexOf(server) && server.regexes.length > 0)
      excludes.push(...hostRegexes(other));
  }
  for (const other of winners)
    excludes.push(...other.wildcards.map((name) => endsWithText(name.slice(1))), ...hostRegexes(other));
  const seen = new Map(excludes.map((test) => [JSON.stringify(test), test]));
  return { includes, excludes: [...seen.values()] };
}

/** Whether a regex matches every host of its wildcard record. */
export function coversRecord(source: string): boolean {
  return /^(?:\^?\(?(?:\?(?:P?<\w+>|:))?\.[*+]\)?)?(?:\\\.[a-z0-9-]{1,63}){2,}\$$/i.test(
    source.slice(0, 300),
  );
}

/** The wildcard record that a regex name needs, such as `*.example.com` for `^(.+)\.example\.com$`; `null`: unknown. */
export function recordOfRegex(source: string): string | null {
  const end = /((?:\\\.[a-z0-9-]{1,63}){2,})\$$/i.exec(source.slice(-300));
  return end === null ? null : `*${end[1]!.replaceAll('\\', '').toLowerCase()}`;
}

// Finds the names that a regex of `server_name` matches where they are few, such as `^(www\.)?example\.com$`.

/** Names of one regex at most. */
const MAX_NAMES = 16;
/** Characters of one regex at most: longer ones than a name can be list no few names, and groups are read recursively. */
const MAX_REGEX = 253;

/**
 * The server with names in place of regexes that match few. nginx tries regexes after names and wildcards: a regex stays where
 * another server has a name or another pattern for one of its names.
 */
export function withFiniteNames(server: NginxServer, all: readonly NginxServer[]): NginxServer {
  const exact = [...server.exact];
  const regexes: string[] = [];
  for (const source of server.regexes) {
    const names = finiteNames(source);
    const isTaken = (name: string): boolean =>
      all.some((other) => other !== server && namesOtherwise(other, { name, source }));
    if (names === null || names.some(isTaken)) regexes.push(source);
    else exact.push(...names.filter((name) => !exact.includes(name)));
  }
  return { ...server, exact, regexes };
}

/** Whether a server has a name by something else than the regex. */
function namesOtherwise(
  server: NginxServer,
  { name, source }: { readonly name: string; readonly source: string },
): boolean {
  if (server.exact.includes(name) || server.wildcards.some((one) => name.endsWith(one.slice(1)))) return true;
  const regexes = server.regexes.filter((one) => one !== source);
  return hostRegexes({ ...server, regexes }).some((test) => passes(test, name));
}

/** The names of a regex; `null`: they are many, or its syntax is another. */
export function finiteNames(source: string): readonly string[] | null {
  if (!source.startsWith('^') || !source.endsWith('$') || source.length > MAX_REGEX) return null;
  const read = readAlternatives(source.slice(1, -1).toLowerCase(), 0);
  if (read === null || read.at !== source.length - 2) return null;
  const names = [...new Set(read.texts)];
  const isName = (name: string): boolean => name.includes('.') && normalizeName(name) === name;
  return names.every(isName) ? names : null;
}

/** The texts of a part of a regex, and where it ends. */
interface FiniteTexts {
  readonly texts: readonly string[];
  readonly at: number;
}

/** Reads alternatives up to a `)` or the end. */
function readAlternatives(source: string, start: number): FiniteTexts | null {
  const texts: string[] = [];
  let own: readonly string[] = [''];
  let at = start;
  for (;;) {
    const character = source[at];
    if (character === undefined || character === '|' || character === ')') {
      texts.push(...own);
      own = [''];
      if (character !== '|') return { texts, at };
      at++;
      continue;
    }
    const atom = readAtom(source, at);
    if (atom === null) return null;
    const isOptional = source[atom.at] === '?';
    at = atom.at + (isOptional ? 1 : 0);
    const choices = isOptional ? ['', ...atom.texts] : atom.texts;
    own = own.flatMap((before) => choices.map((text) => before + text));
    if (own.length + texts.length > MAX_NAMES || '?*+{'.includes(source[at] ?? ' ')) return null;
  }
}

/** Reads a letter, an escaped dot or hyphen, or a group. */
function readAtom(source: string, at: number): FiniteTexts | null {
  const [text] = /^(?:[a-z0-9-]|\\[.-])/.exec(source.slice(at, at + 2)) ?? [];
  if (text !== undefined) return { texts: [text.at(-1)!], at: at + text.length };
  const [opened] = /^\((?:\?:|\?p?<\w+>)?/.exec(source.slice(at, at + 64)) ?? [];
  if (opened === undefined) return null;
  const inner = readAlternatives(source, at + opened.length);
  return inner === null || source[inner.at] !== ')' ? null : { ...inner, at: inner.at + 1 };
}
