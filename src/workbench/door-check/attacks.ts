/**
 * Requests that try to get a blocked path past a proxy with an agent beside it. In: a host, the blocked path and an open one. Out:
 * each attack by name, as the octets that go over a connection, since clients would normalise them. Pure.
 */

/** One attack. */
export interface DoorAttack {
  /** What it tries, for a line of the report. */
  readonly name: string;
  readonly octets: string;
}

/** Where the attacks lead. */
export interface AttackTarget {
  /** The Host, with its port if the URL has one. */
  readonly host: string;
  /** Path and query that the plan blocks. */
  readonly blocked: string;
  /** Path and query that it forwards. */
  readonly open: string;
}

/** Octets of a header, and of a body, that no server should buffer for a stranger. */
const LARGE_HEADER = 128 * 1024;
const LARGE_BODY = 2 * 1024 * 1024;
const NAMES = [
  'X-Forwarded-Uri',
  'X_Forwarded_Uri',
  'X.Forwarded.Uri',
  'X-Forwarded_Uri',
  'x-fOrWaRdEd-uRi',
] as const;
/** Headers from which other servers take a URL. */
const OTHERS = [
  'X-Original-URL',
  'X-Original-URI',
  'X-Rewrite-URL',
  'X-Forwarded-Prefix',
  'X-Forwarded-Path',
] as const;
/** What an agent answers its proxy, and what only a proxy sends. */
const OWN = [
  'X-Edgeplan-Action: forward',
  'X-Edgeplan-Status: 200',
  'X-Edgeplan-Door: guessed-by-a-visitor',
  `X-Edgeplan-Ticket: ${'A'.repeat(43)}`,
] as const;

/**
 * All attacks, in the order of the report. None has a fragment: Caddy reads `/admin#x` as the path `/admin%23x`, which is another
 * one for the plan and for the application.
 */
export function doorAttacks({ host, blocked, open }: AttackTarget): readonly DoorAttack[] {
  const get = (lines: readonly string[], line = `GET ${blocked} HTTP/1.1`): string =>
    request(line, host, lines);
  const named = (name: string, ...lines: string[]): DoorAttack => ({ name, octets: get(lines) });
  const line = (name: string, text: string): DoorAttack => ({ name, octets: get([], text) });
  return [
    ...NAMES.map((name) => named(`forged header ${name}`, `${name}: ${open}`)),
    named('doubled X-Forwarded-Uri', `X-Forwarded-Uri: ${open}`, `X-Forwarded-Uri: ${open}`),
    named('X-Forwarded-Uri with a list', `X-Forwarded-Uri: ${open}, ${open}`),
    named('forged X-Forwarded-Method', 'X-Forwarded-Method: OPTIONS', 'X_Forwarded_Method: OPTIONS'),
    named('forged X-Forwarded-Host', 'X-Forwarded-Host: localhost', 'X_Forwarded_Host: localhost'),
    named('forged X-Forwarded-For', 'X-Forwarded-For: 127.0.0.1', 'X_Forwarded_For: 127.0.0.1'),
    named('forged X-Forwarded-Proto', 'X-Forwarded-Proto: http', 'X_Forwarded_Proto: https'),
    named('Forwarded', `Forwarded: for=127.0.0.1;host=localhost;proto=https`),
    ...OTHERS.map((name) => named(`forged header ${name}`, `${name}: ${open}`)),
    ...OWN.map((text) => named(`forged header ${text.slice(0, text.indexOf(':'))}`, text)),
    named(
      'headers of the proxy named in Connection',
      'Connection: X-Forwarded-Uri, X-Edgeplan-Door, X-Forwarded-For',
    ),
    named('an upgrade', 'Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13'),
    line('an absolute target', `GET http://${host}${blocked} HTTP/1.1`),
    line('an absolute target of another host', `GET http://localhost${blocked} HTTP/1.1`),
    line('a doubled slash', `GET /${blocked} HTTP/1.1`),
    line('a dot segment', `GET /.${blocked} HTTP/1.1`),
    line('a parent segment', `GET /x/..${blocked} HTTP/1.1`),
    line('an encoded parent segment', `GET /x/%2e%2e${blocked} HTTP/1.1`),
    line('an encoded slash', `GET /x/..%2f${blocked.slice(1)} HTTP/1.1`),
    line('an encoded letter', `GET ${encodedOnce(blocked)} HTTP/1.1`),
    line('a path parameter', `GET ${withParameter(blocked)} HTTP/1.1`),
    line('a parameter of a parent segment', `GET /x/..;p${blocked} HTTP/1.1`),
    line('a backslash', `GET /x\\..\\${blocked.slice(1)} HTTP/1.1`),
    line(
      'a query that names the open path',
      `GET ${blocked}${blocked.includes('?') ? '&' : '?'}uri=${open} HTTP/1.1`,
    ),
    line('HEAD', `HEAD ${blocked} HTTP/1.1`),
    line('TRACE', `TRACE ${blocked} HTTP/1.1`),
    line('CONNECT', `CONNECT ${host} HTTP/1.1`),
    line('a method in lower case', `get ${blocked} HTTP/1.1`),
    { name: 'HTTP/1.0 without a Host', octets: `GET ${blocked} HTTP/1.0\r\n\r\n` },
    { name: 'no Host', octets: `GET ${blocked} HTTP/1.1\r\nConnection: close\r\n\r\n` },
    named('two Hosts', 'Host: localhost'),
    named('a large header', `X-Large: ${'x'.repeat(LARGE_HEADER)}`),
    {
      name: 'a large body',
      octets: `${request(`POST ${blocked} HTTP/1.1`, host, [`Content-Length: ${LARGE_BODY}`])}${'x'.repeat(LARGE_BODY)}`,
    },
    {
      name: 'a body of two lengths',
      octets: `${request(`POST ${blocked} HTTP/1.1`, host, ['Content-Length: 4', 'Transfer-Encoding: chunked'])}0\r\n\r\n`,
    },
    {
      name: 'a request behind the open one',
      octets: `${request(`GET ${open} HTTP/1.1`, host, []).replace('Connection: close\r\n', '')}${get([])}`,
    },
  ];
}

/** A head with its Host; the connection ends with the response. */
export function request(line: string, host: string, lines: readonly string[]): string {
  // A Connection of the attack's own is a second header of that name, which servers join.
  return [line, `Host: ${host}`, 'Connection: close', ...lines, '', ''].join('\r\n');
}

/** The first character behind the first slash, percent-encoded. */
function encodedOnce(path: string): string {
  const code = path.charCodeAt(1);
  return Number.isNaN(code) ? path : `/%${code.toString(16)}${path.slice(2)}`;
}

/** A parameter at the end of the path, before its query. */
function withParameter(target: string): string {
  const mark = target.indexOf('?');
  return mark < 0 ? `${target};p=1` : `${target.slice(0, mark)};p=1${target.slice(mark)}`;
}
