/**
 * Socket activation as systemd does it (sd_listen_fds(3)): a process gets listening sockets from descriptor 3 on. In: the
 * variables LISTEN_PID, LISTEN_FDS and LISTEN_FDNAMES, and the names of the listeners. Out: a socket for each name, or a
 * sentence about the one that cannot be used.
 */
import { readFileSync, readlinkSync } from 'node:fs';
import type { InheritedSocket } from './sockets.ts';

/** The first passed descriptor (SD_LISTEN_FDS_START). */
const FIRST = 3;
/** The state of a listening socket in /proc/net/tcp: TCP_LISTEN. */
const LISTENING = '0A';
/** The flag of a listening socket in /proc/net/unix: __SO_ACCEPTCON. */
const ACCEPTS = 0x1_00_00;
/** Most descriptors: no listener has more names. */
const MAX_DESCRIPTORS = 64;

/** A passed socket that cannot be used. */
export class ActivationFault extends Error {
  /** What to change. */
  readonly remedy: string;

  constructor(message: string, remedy: string) {
    super(message);
    this.name = 'ActivationFault';
    this.remedy = remedy;
  }
}

/** What is read of the process. */
export interface ActivationInput {
  readonly env: NodeJS.ProcessEnv;
  readonly pid: number;
  /** Names of listeners, in the order that descriptors without names have. */
  readonly names: readonly string[];
  /** Those of `names` that may be unix sockets. Default: none, all are of TCP. */
  readonly unixNames?: readonly string[];
  /** Folder of the kernel's facts about processes. Default: `/proc`. */
  readonly proc?: string;
}

/**
 * The sockets that the process was started with, by listener name; empty: none. Variables that are meant for another
 * process count as absent.
 * @throws ActivationFault
 */
export function activatedSockets(input: ActivationInput): ReadonlyMap<string, InheritedSocket> {
  const { env, pid, names } = input;
  const found = new Map<string, InheritedSocket>();
  if (env['LISTEN_FDS'] === undefined || env['LISTEN_PID'] !== String(pid)) return found;
  const count = /^\d{1,3}$/.test(env['LISTEN_FDS']) ? Number(env['LISTEN_FDS']) : -1;
  if (count < 0 || count > MAX_DESCRIPTORS) {
    throw new ActivationFault(
      `LISTEN_FDS is a number from 0 to ${MAX_DESCRIPTORS}, found \`${env['LISTEN_FDS']}\``,
      'start the process from a socket unit of systemd, or without LISTEN_FDS',
    );
  }
  const given = (env['LISTEN_FDNAMES'] ?? '').split(':');
  for (let index = 0; index < count; index++) {
    const fd = FIRST + index;
    const name = nameOf(given[index] ?? '', { index, names, fd });
    if (found.has(name)) {
      throw new ActivationFault(
        `descriptors of LISTEN_FDS: two are for the listener \`${name}\``,
        'give each socket unit one ListenStream=; `[::]:80` with BindIPv6Only=both accepts IPv4 too',
      );
    }
    const acceptsUnix = input.unixNames?.includes(name) === true;
    const path = checkListening(fd, { name, proc: input.proc ?? '/proc', acceptsUnix });
    found.set(name, { handle: { fd }, port: null, path, isFixed: true });
  }
  return found;
}

interface Unnamed {
  readonly index: number;
  readonly names: readonly string[];
  readonly fd: number;
}

/** The listener of a descriptor: by its name, or by its place where systemd has given it no name of ours. */
function nameOf(given: string, { index, names, fd }: Unnamed): string {
  // systemd names a descriptor after its unit where FileDescriptorName= is absent.
  const isDefault = given === '' || given === 'unknown' || given.endsWith('.socket');
  const name = isDefault ? names[index] : given;
  if (name !== undefined && names.includes(name)) return name;
  const found = isDefault ? `descriptor ${fd} is one more than the listeners` : `found \`${given}\``;
  throw new ActivationFault(
    `LISTEN_FDNAMES: a descriptor is for one of ${names.join(', ')}; ${found}`,
    `set FileDescriptorName= of the socket unit to one of ${names.join(', ')}`,
  );
}

interface Checked {
  readonly name: string;
  readonly proc: string;
  readonly acceptsUnix: boolean;
}

/**
 * Refuses a descriptor that is no listening socket: `listen` would bind an unbound one to a port of its choice. Where the kernel
 * does not list sockets as Linux does, the descriptor is taken as it is.
 * @returns the path of a unix socket; `null`: it is one of TCP
 */
function checkListening(fd: number, { name, proc, acceptsUnix }: Checked): string | null {
  function refuse(what: string): never {
    throw new ActivationFault(
      `descriptor ${fd} of LISTEN_FDS, for \`${name}\`, is ${what}`,
      'a socket unit passes listening sockets with ListenStream=<port> and Accept=no',
    );
  }
  let target: string;
  try {
    target = readlinkSync(`${proc}/self/fd/${fd}`);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || !hasTables(proc)) return null;
    refuse('not open');
  }
  const inode = /^socket:\[(\d+)\]$/.exec(target)?.[1];
  if (inode === undefined) refuse('no socket');
  const tables = ['tcp', 'tcp6'].map((table) => read(`${proc}/self/net/${table}`));
  if (tables.every((text) => text === null)) return null;
  const row = rowsOf(tables).find((columns) => columns[9] === inode);
  if (row !== undefined) return row[3] === LISTENING ? null : refuse('a TCP socket that does not listen');
  const unix = rowsOf([read(`${proc}/self/net/unix`)]).find((columns) => columns[6] === inode);
  if (unix === undefined || !acceptsUnix) {
    return refuse(acceptsUnix ? 'no bound TCP or unix socket' : 'no bound TCP socket');
  }
  if ((Number.parseInt(unix[3]!, 16) & ACCEPTS) === 0) refuse('a unix socket that does not listen');
  return unix[7] ?? null;
}

/** The columns of tables of sockets; a table that cannot be read is empty. */
function rowsOf(tables: readonly (string | null)[]): readonly (readonly string[])[] {
  return tables.flatMap((text) => (text ?? '').split('\n')).map((line) => line.trim().split(/\s+/));
}

function hasTables(proc: string): boolean {
  return read(`${proc}/self/net/tcp`) !== null;
}

function read(file: string): string | null {
  try {
    return readFileSync(file, 'latin1');
  } catch {
    return null;
  }
}
