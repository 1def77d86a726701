/**
 * Detects URLs that make the server request what only it can reach: `detectInternalUrl` for `@detectInternalUrl`. Parses
 * each URL of a value as clients do (WHATWG URL; RFC 3986 for other schemes) and reports internal hosts in any spelling,
 * metadata services, names that resolve to internal addresses, and schemes of other protocols. A plain URL of the own
 * machine or network (`http://localhost:3000/callback`) is reported only if its port or path is that of a service.
 * Stages: this file, `internal-url/hosts.ts`.
 */
import { KIND } from '../../../base/octets/octet-kinds.ts';
import { isAlphanumeric, isDigit, isSpace } from '../octets/latin1.ts';
import { type HostMeaning, meaningOf } from './internal-url/hosts.ts';

/** The kinds of octets (`base/octets/octet-kinds.ts`) of which every detected value has one. */
export const URL_KINDS = KIND.slash | KIND.dot | KIND.backslash | KIND.colon;
/** The length in octets of the shortest value that is detected: `//0`. */
export const SHORTEST_URL = 3;

/** The most URLs of a value that are parsed, and the octets of each that are. */
const MOST_URLS = 32;
const LONGEST_URL = 2_048;
const LONGEST_SCHEME = 24;
/** The longest value that is read as a host without a scheme. */
const LONGEST_HOST = 300;

/** Schemes of the web, in which any number of slashes or backslashes separates the host. */
const WEB: ReadonlySet<string> = new Set(['http', 'https', 'ftp', 'ftps', 'ws', 'wss']);
/** Schemes with which libraries for URLs reach other protocols. */
const OTHER: ReadonlySet<string> = new Set(
  'gopher gophers dict ldapi tftp netdoc smb pop3 telnet rmi memcached cloudsql ogg'.split(' '),
);
/** Directory services, transfers of files, mail, caches and cameras, which ordinary settings name by host. */
const DIRECTORY: ReadonlySet<string> = new Set(
  'ldap ldaps iiop corba sftp scp ssh svn+ssh imap imaps redis rtsp'.split(' '),
);

/** Ports of services that have no pages for people. */
const SERVICE_PORTS: ReadonlySet<number> = new Set([
  1433, 1521, 2049, 2375, 2376, 2379, 2380, 3306, 3389, 5432, 5601, 5672, 5984, 5985, 6379, 6443, 7001, 8500,
  9200, 9300, 10_250, 10_255, 11_211, 15_672, 27_017, 50_070,
]);
/** First segments of paths with the inner state of a server. */
const SERVICE_PATHS: ReadonlySet<string> = new Set(
  `admin administrator server-status server-info nginx_status fpm-status actuator manager console internal private
   metrics _cat _cluster _all_dbs _search flag flag.txt secret secrets solr jenkins phpmyadmin wp-admin latest jolokia
   heapdump env .env .git containers computemetadata`.split(/\s+/),
);
/** Parts of paths to which a provider of sign-ins or payments returns. */
const RETURNS = [
  'callback',
  'oauth',
  'auth',
  'login',
  'signin',
  'sign-in',
  'redirect',
  'return',
  'success',
  'cancel',
] as const;

/** The paths of `file:` URLs that are the system's. */
const SYSTEM_FOLDERS: ReadonlySet<string> = new Set(
  'etc proc root sys boot dev windows winnt inetpub boot.ini winnt.ini'.split(' '),
);

const METADATA = 'metadata service of a cloud';
const SCHEME = 'scheme of another protocol';

/** Returns the construct found in `value` (Latin-1), or `null`. Takes linear time; never throws. */
export function detectInternalUrl(value: string): string | null {
  const begin = skipSpace(value);
  const prose = hasSpace(value, begin);
  if (prose && hasWords(value, begin)) return null;
  let count = 0;
  for (
    let colon = value.indexOf(':', begin);
    colon >= 0 && count < MOST_URLS;
    colon = value.indexOf(':', colon + 1)
  ) {
    const start = schemeStart(value, colon, begin);
    // In prose a URL is a topic; an address for the server to request is a value of its own.
    if (prose && start > begin) return null;
    if (start === colon) continue;
    const found = schemed(value, start, colon);
    if (found !== null) return found;
    if (isSlash(value.charCodeAt(colon + 1))) count++;
  }
  return prose || count > 0 ? null : unschemed(value, begin);
}

function skipSpace(value: string): number {
  let at = 0;
  while (at < value.length && isSpace(value.charCodeAt(at))) at++;
  return at;
}

/** Whether white space is between two texts from `at` on. */
function hasSpace(value: string, at: number): boolean {
  let space = at;
  while (space < value.length && !isSpace(value.charCodeAt(space))) space++;
  while (space < value.length && isSpace(value.charCodeAt(space))) space++;
  return space < value.length;
}

/** The octets behind a URL that are read for words. */
const MOST_TEXT = 64;

/** Whether a text at `at` goes on with two words of letters: it is about a URL. */
function hasWords(value: string, at: number): boolean {
  let place = at;
  while (place < value.length && !isSpace(value.charCodeAt(place))) place++;
  // Lines behind a URL are those of another protocol.
  if (value[place] === '\n' || value[place] === '\r') return false;
  const limit = Math.min(value.length, place + MOST_TEXT);
  let words = 0;
  let letters = 0;
  for (; place <= limit; place++) {
    const code = place < limit ? value.charCodeAt(place) : 0x20;
    if (isLetter(code)) letters = letters < 0 ? letters : letters + 1;
    else if (isSpace(code)) {
      if (letters > 1) words++;
      letters = 0;
    } else letters = -1;
  }
  return words > 1;
}

function isLetter(code: number): boolean {
  return isAlphanumeric(code) && !isDigit(code);
}

/** The beginning of the scheme before a colon; the colon itself: absent. */
function schemeStart(value: string, colon: number, begin: number): number {
  let start = colon;
  while (start > begin && colon - start < LONGEST_SCHEME && isSchemePart(value.charCodeAt(start - 1)))
    start--;
  return start;
}

function isSchemePart(code: number): boolean {
  return isAlphanumeric(code) || code === 0x2b || code === 0x2d || code === 0x2e;
}

function isSlash(code: number): boolean {
  return code === 0x2f || code === 0x5c;
}

/** Judges the URL whose scheme is `value[start, colon)`. */
function schemed(value: string, start: number, colon: number): string | null {
  const scheme = value.slice(start, colon).toLowerCase();
  if (scheme === 'jar' || scheme === 'netdoc') return hasTarget(value, colon, scheme) ? SCHEME : null;
  if (scheme === 'file') return isSystemFile(value, colon) ? 'file of the system' : null;
  // `http:127.0.0.1` has the host of `http://127.0.0.1`.
  const slashless = (scheme === 'http' || scheme === 'https') && isDigit(value.charCodeAt(colon + 1));
  if (!isSlash(value.charCodeAt(colon + 1)) && !slashless) return null;
  if (OTHER.has(scheme)) return SCHEME;
  const directory = DIRECTORY.has(scheme);
  if (!directory && !WEB.has(scheme)) return null;
  let from = colon + 1;
  while (isSlash(value.charCodeAt(from)) && from - colon < 16) from++;
  const url = parse(value.slice(from, from + LONGEST_URL));
  if (slashless && !url.host.includes('.')) return null;
  // Cameras have an address of the own network.
  if (scheme === 'rtsp' && url.meaning.kind === 'private' && url.meaning.plain && !url.ambiguous) return null;
  if (directory)
    return isDigits(url.host.replaceAll('.', '')) || url.meaning.kind !== 'public' ? SCHEME : null;
  return judge(url);
}

/** Whether `jar:` has another URL behind it, or `netdoc:` a path. */
function hasTarget(value: string, colon: number, scheme: string): boolean {
  const rest = value.slice(colon + 1, colon + 9).toLowerCase();
  if (scheme === 'netdoc') return rest.startsWith('/');
  return (
    rest.startsWith('http') || rest.startsWith('file:') || rest.startsWith('ftp') || rest.startsWith('url:')
  );
}

/** Whether a `file:` URL has a path of the system: `file:///etc/…`, `file://localhost/c:/windows/…`. */
function isSystemFile(value: string, colon: number): boolean {
  const path = value
    .slice(colon + 1, colon + 128)
    .toLowerCase()
    .replaceAll('\\', '/');
  const segments = path.split('/').filter((segment) => segment !== '');
  if (segments[0] === 'localhost' || segments[0] === '127.0.0.1') segments.shift();
  if (segments[0]?.length === 2 && segments[0].endsWith(':')) segments.shift();
  const [first = '', second = ''] = segments;
  if (SYSTEM_FOLDERS.has(first)) return true;
  return first === 'var' && (second === 'log' || second === 'www' || second === 'run' || second === 'lib');
}

/** The parts of a URL behind its scheme and slashes. */
interface Url {
  readonly host: string;
  readonly meaning: HostMeaning;
  /** -1: none is written. */
  readonly port: number;
  /** In lower case, without the slash at its beginning. */
  readonly path: string;
  readonly user: boolean;
  /** Whether an `@` follows what ends the authority for one parser, and is part of it for another. */
  readonly ambiguous: boolean;
}

/** Parses the text behind a scheme and its slashes. */
function parse(text: string): Url {
  let end = 0;
  while (end < text.length && !'/\\?#'.includes(text.charAt(end)) && !isSpace(text.charCodeAt(end))) end++;
  const authority = text.slice(0, end);
  const at = authority.lastIndexOf('@');
  const place = authority.slice(at + 1);
  const bracket = place.startsWith('[') ? place.indexOf(']') + 1 : 0;
  const colon = place.indexOf(':', bracket);
  const host = colon < 0 ? place : place.slice(0, colon);
  const digits = colon < 0 ? '' : place.slice(colon + 1);
  const meaning = meaningOf(host);
  return {
    host,
    meaning,
    port: digits !== '' && isDigits(digits) && digits.length < 6 ? Number(digits) : -1,
    path: text.slice(end + 1, end + 65).toLowerCase(),
    user: at >= 0 && !(meaning.kind === 'private' && isCredentials(authority.slice(0, at))),
    // Of two user names one parser takes the first for the host's, another the last.
    ambiguous: isAmbiguous(text, end) || authority.indexOf('@') !== at || namesInternalHost(authority, at),
  };
}

/** Whether the user name before `at` is an internal address: `127.0.0.1:80@host`. */
function namesInternalHost(authority: string, at: number): boolean {
  if (at <= 0 || !isDigit(authority.charCodeAt(0))) return false;
  const [user] = authority.slice(0, at).split(':', 1) as [string];
  return user.includes('.') && meaningOf(user).kind !== 'public';
}

/** Whether a user name has a password behind it, and no dot of a host: `admin:1234`, as cameras have it. */
function isCredentials(user: string): boolean {
  const colon = user.indexOf(':');
  return colon > 0 && colon < user.length - 1 && !user.includes('.') && !isDigits(user.slice(0, colon));
}

/** Whether `#@`, `?@`, `\@` or ` &@` ends the authority. */
function isAmbiguous(text: string, end: number): boolean {
  const mark = text.charAt(end);
  if (isSpace(text.charCodeAt(end))) return text.startsWith('&@', end + 1);
  return mark !== '' && '#?\\'.includes(mark) && text.charAt(end + 1) === '@';
}

function isDigits(text: string): boolean {
  for (let at = 0; at < text.length; at++)
    if (text.charCodeAt(at) < 0x30 || text.charCodeAt(at) > 0x39) return false;
  return text !== '';
}

/** Judges a URL of the web. */
function judge({ meaning, port, path, user, ambiguous, host }: Url): string | null {
  if (ambiguous) return 'host behind a user name';
  switch (meaning.kind) {
    case 'public':
      // A name without a dot is one of the own network.
      return SERVICE_PORTS.has(port) && !host.includes('.') && meaning.plain && isName(host)
        ? 'internal service'
        : null;
    case 'documentation':
    case 'multicast':
    case 'benchmarking':
      return null;
    case 'metadata':
      return METADATA;
    case 'cluster':
      return 'service of a cluster';
    case 'wildcard':
      return 'name that resolves to an internal address';
    case 'disguised':
      return 'host in enclosed letters';
    case 'link-local':
      return 'address of the local link';
    default:
  }
  if (user) return 'internal host behind a user name';
  // `0` and `::` are the own machine to most systems; nobody writes them for a service.
  if (!meaning.plain || meaning.kind === 'unspecified') return 'internal address in another spelling';
  return isService(meaning, { port, path, host }) ? 'internal service' : null;
}

/** Whether a host is a name: an address begins with a digit or a bracket. */
function isName(host: string): boolean {
  const letter = host.charCodeAt(0) | 0x20;
  return letter >= 0x61 && letter <= 0x7a;
}

/** Whether a plain internal URL names a service rather than an application under development. */
function isService(
  { kind }: HostMeaning,
  { port, path, host }: { readonly port: number; readonly path: string; readonly host: string },
): boolean {
  if (RETURNS.some((part) => path.includes(part))) return false;
  const web = port === -1 || port === 80 || port === 443;
  if (!web && (port < 1024 || SERVICE_PORTS.has(port))) return true;
  const [first] = path.split(/[/?#]/, 1) as [string];
  if (SERVICE_PATHS.has(first)) return true;
  return web && kind === 'loopback' && host !== '';
}

/** Judges a value without a scheme: `//host/path`, or a metadata service by its bare name. */
function unschemed(value: string, begin: number): string | null {
  const end = value.length;
  if (isSlash(value.charCodeAt(begin)) && isSlash(value.charCodeAt(begin + 1)))
    return judge(parse(value.slice(begin + 2, begin + 2 + LONGEST_URL)));
  if (end - begin > LONGEST_HOST || !mayBeBare(value, begin)) return null;
  const { meaning, host } = parse(value.slice(begin).trimEnd());
  if (meaning.kind === 'metadata' && host.includes('.')) return METADATA;
  return meaning.kind !== 'public' && !meaning.plain ? 'internal address in another spelling' : null;
}

/** The beginnings of addresses and names of metadata services, and of addresses in hexadecimal. */
const BARE = [
  '169.254.',
  '100.100.100.200',
  '192.0.0.192',
  '168.63.129.16',
  'metadata.',
  'instance-data.',
  '0x',
] as const;

/** Texts (`Detector.triggers`): schemes, two slashes at the beginning, hosts without a scheme. */
export const URL_TRIGGERS = [
  ...Array.from([...WEB, ...OTHER, ...DIRECTORY, 'jar', 'netdoc', 'file'], (scheme) => `${scheme}:`),
  ...['//', '/\\', '\\/', '\\\\'],
  ...BARE,
];

/** Whether a value can be a host that is reported without a scheme. PERF: most values with a dot are texts and numbers. */
function mayBeBare(value: string, begin: number): boolean {
  const code = value.charCodeAt(begin);
  if (!isDigit(code) && (code | 0x20) !== 0x6d && (code | 0x20) !== 0x69) return false;
  const head = value.slice(begin, begin + 15).toLowerCase();
  return value.includes('.', begin) && BARE.some((start) => head.startsWith(start));
}
