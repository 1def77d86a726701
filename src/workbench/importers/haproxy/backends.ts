/** The servers of a backend or a listen section, as origins. */
import type { DraftEntry } from '../draft.ts';
import { isLocal } from '../nginx/origins.ts';
import { defaultsOf, entryOf, type HaproxyImport, settingOf } from './context.ts';
import type { HaproxyLine, HaproxySection } from './parse-haproxy.ts';

/** One origin. */
export interface HaproxyOrigin {
  readonly address: string;
  readonly port: number | null;
  readonly scheme: 'http' | 'https';
  readonly weight: number;
}

/** The origins of a section. */
export interface HaproxyServers {
  readonly origins: readonly HaproxyOrigin[];
  readonly lbType: 'round_robin' | 'least_load';
  /** The entry of its first server; `null`: it has no server. */
  readonly entry: DraftEntry | null;
  readonly differences: readonly string[];
  /** Why servers are left out. */
  readonly lost: readonly string[];
}

/** Reads the servers. */
export function readServers(state: HaproxyImport, section: HaproxySection): HaproxyServers {
  const lines = section.lines.filter(({ words }) => words[0] === 'server');
  const origins: HaproxyOrigin[] = [];
  const differences = new Set<string>();
  const lost: string[] = [];
  const shared = [...defaultsOf(state, section), ...section.lines]
    .filter(({ words }) => words[0] === 'default-server')
    .flatMap(({ words }) => words.slice(1));
  for (const line of lines) {
    entryOf(state, line);
    const read = readServer(line, shared);
    if (typeof read === 'string') lost.push(read);
    else if (read.isBackup) differences.add('backup servers are not used');
    else {
      origins.push(read.origin);
      if (read.origin.port === null)
        differences.add('HAProxy connects to the port of the listener, the edge to that of the scheme');
      if (isLocal(read.origin.address))
        differences.add(
          'the origin is an address of the machine of HAProxy; write one that the edge reaches',
        );
    }
  }
  const balance = settingOf(state, section, 'balance')?.words[1] ?? 'roundrobin';
  if (origins.length > 1 && !['roundrobin', 'static-rr', 'leastconn', 'random'].includes(balance))
    differences.add(`HAProxy chooses a server by \`${balance}\`, the pool in turn`);
  const entry = lines[0] === undefined ? null : entryOf(state, lines[0]);
  const lbType = balance === 'leastconn' ? 'least_load' : 'round_robin';
  return { origins, lbType, entry, differences: [...differences], lost };
}

/** Reads one server; a text is the reason why it has no equivalent. */
function readServer(
  { words, hasVariable }: HaproxyLine,
  shared: readonly string[],
): { readonly origin: HaproxyOrigin; readonly isBackup: boolean } | string {
  const [, , written = '', ...own] = words;
  const options = [...shared, ...own];
  if (hasVariable) return `\`${written}\` depends on the environment of HAProxy`;
  const address = readAddress(written.replace(/^(?:ipv[46]|tcp[46]?|quic[46])@/, ''));
  if (address === null) return `\`${written}\` is no address that the edge reaches`;
  const last = (name: string): string | undefined => options[options.lastIndexOf(name) + 1];
  const isOff = own.includes('disabled') || (options.includes('disabled') && !own.includes('enabled'));
  const weight = options.includes('weight') ? Number(last('weight')) : 1;
  const isSecure = options.lastIndexOf('ssl') > options.lastIndexOf('no-ssl');
  const scheme = isSecure ? 'https' : 'http';
  return {
    origin: { ...address, scheme, weight: isOff || !Number.isInteger(weight) ? 0 : weight },
    isBackup: options.includes('backup'),
  };
}

/** Splits `host:port`; IPv6 has brackets, or the port behind its last colon. */
function readAddress(text: string): { readonly address: string; readonly port: number | null } | null {
  if (text === '' || /[/@*]/.test(text)) return null;
  const [, bracketed, plain, port] = /^(?:\[([0-9a-f:.]+)\]|([^[\]]*?))(?::(\d{1,5}))?$/i.exec(text) ?? [];
  const address = bracketed ?? plain;
  if (address === undefined || address === '') return null;
  return { address, port: port === undefined ? null : Number(port) };
}
