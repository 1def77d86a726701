/** Finds the names that a regex of `server_name` matches where they are few, such as `^(www\.)?example\.com$`. */
import { normalizeName } from '../../../base/addresses/host.ts';
import { passes } from '../text-test.ts';
import { hostRegexes, type NginxServer } from './servers.ts';

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
function finiteNames(source: string): readonly string[] | null {
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
