/**
 * Checks of the machine that `edgeplan doctor` runs on: cores, memory, open files, the version of Node, the disk, ports
 * and DNS resolvers.
 */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { accessSync, constants, existsSync, readFileSync, type Stats, statSync } from 'node:fs';
import { rm, statfs } from 'node:fs/promises';
import { createServer } from 'node:net';
import { availableParallelism, totalmem } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { writeDurably } from '../../base/platform/durable-file.ts';
import { createDns, type Dns } from '../../control/dns/resolver.ts';
import type { ServerAddress } from '../../control/dns/server-address.ts';
import { writeFault } from '../exit.ts';
import { listenFault } from '../long-runs.ts';
import { dataFolder } from '../open-data.ts';
import { type Check, type CheckFinding, type DoctorFlags, gibibytes, reasonText } from './check.ts';

/** Octets of memory below which a server or node has little left for its work. */
const LITTLE_MEMORY = 512 * 1024 * 1024;
/** Files that are open besides connections: plans, the store, logs, cached responses. */
const OTHER_FILES = 500;

/** The limit of open files of this process; `null`: the system does not report it. */
function openFilesLimit(): number | null {
  let text: string;
  try {
    text = readFileSync('/proc/self/limits', 'utf8');
  } catch {
    // Not Linux.
    return null;
  }
  // Soft and hard limit; Node raises the soft one to the hard one when it starts.
  const limit = /^Max open files +(\S+)/m.exec(text)?.[1];
  return limit === 'unlimited' ? Number.POSITIVE_INFINITY : limit === undefined ? null : Number(limit);
}

function filesFinding(maxConnections: number): CheckFinding {
  const limit = openFilesLimit();
  if (limit === null)
    return { state: 'skipped', found: 'this system does not report its limit of open files' };
  // Each connection of a client may need one to an origin.
  const needed = 2 * maxConnections + OTHER_FILES;
  const found = `${limit} open files at most; --max-connections ${maxConnections} may need ${needed}`;
  if (limit >= needed) return { state: 'fine', found };
  const remedy = `raise the limit (ulimit -Hn, LimitNOFILE= of systemd), or lower --max-connections to ${Math.max(1, Math.floor((limit - OTHER_FILES) / 2))}`;
  return { state: 'warning', found, remedy };
}

export const machine: Check = {
  name: 'machine',
  async run({ maxConnections }) {
    // A container's limit, where there is one.
    const limit = process.constrainedMemory();
    const memory = limit > 0 && limit < totalmem() ? limit : totalmem();
    const cores = availableParallelism();
    const found = `${cores} ${cores === 1 ? 'core' : 'cores'}, ${gibibytes(memory)} of memory`;
    const enough = memory >= LITTLE_MEMORY;
    const remedy = `give it ${gibibytes(LITTLE_MEMORY)}, or start the node with --cache-memory 32`;
    const size: CheckFinding = enough ? { state: 'fine', found } : { state: 'warning', found, remedy };
    return [size, filesFinding(maxConnections)];
  },
};

// Checks that this Node is one that the package supports.

/** The oldest version in `engines` of `package.json`, such as `20.19`. */
function oldestVersion(): string {
  const text = readFileSync(new URL('../../../package.json', import.meta.url), 'utf8');
  const { engines } = JSON.parse(text) as { readonly engines: { readonly node: string } };
  return engines.node.replace(/^>=\s*/, '');
}

/** Whether a version such as `20.20.2` is at least another. */
export function isAtLeast(version: string, oldest: string): boolean {
  const found = version.split('.').map(Number);
  const wanted = oldest.split('.').map(Number);
  const differs = wanted.findIndex((part, index) => part !== (found[index] ?? 0));
  return differs < 0 || (found[differs] ?? 0) > wanted[differs]!;
}

export const nodeVersion: Check = {
  name: 'node',
  async run() {
    const oldest = oldestVersion();
    const found = `Node ${process.versions.node} on ${process.platform} ${process.arch}`;
    if (isAtLeast(process.versions.node, oldest)) return [{ state: 'fine', found }];
    return [{ state: 'failure', found, remedy: `install Node ${oldest} or newer` }];
  },
};

// Checks the folder of --data: rights, free room, and that a file can be written and flushed. A folder that does not exist is
// not made; then the nearest one above it is checked.

/** Octets of room below which a server refuses writes soon. */
const NO_ROOM = 64 * 1024 * 1024;
/** Octets of room below which logs, plans and the cache may fill the disk. */
const LITTLE_ROOM = 1024 * 1024 * 1024;

/** The folder itself, or the nearest one above it that exists. */
function nearest(folder: string): string {
  return existsSync(folder) ? folder : nearest(dirname(folder));
}

/** Writes a file, waits until it is on the disk, and removes it. @throws the system's error */
async function tryWrite(folder: string): Promise<void> {
  const file = join(folder, `.edgeplan-doctor-${randomBytes(6).toString('hex')}`);
  try {
    await writeDurably(file, 'written by edgeplan doctor, which removes it\n');
  } finally {
    await rm(file, { force: true });
  }
}

async function roomFinding(folder: string): Promise<CheckFinding> {
  const { bavail, bsize } = await statfs(folder);
  const room = bavail * bsize;
  const found = `${gibibytes(room)} free`;
  if (room >= LITTLE_ROOM) return { state: 'fine', found };
  const remedy = 'free some, or name a folder on another disk with --data';
  return { state: room < NO_ROOM ? 'failure' : 'warning', found, remedy };
}

/** The rights of the data folder: it has the signing key and digests of API keys. */
function rightsFinding(folder: string, { mode }: Stats): CheckFinding {
  const text = (mode & 0o777).toString(8);
  if ((mode & 0o077) === 0)
    return { state: 'fine', found: `only its owner may open \`${folder}\` (${text})` };
  const found = `\`${folder}\` is open to others (${text}); its files are not`;
  return { state: 'warning', found, remedy: `chmod 700 ${folder}` };
}

/** A folder that can be made; one whose parent is missing as well may be mistyped. */
function missingFinding(
  folder: string,
  { found, isGiven }: { readonly found: string; readonly isGiven: boolean },
): CheckFinding {
  const made = `\`${folder}\` does not exist yet and can be made in \`${found}\``;
  if (!isGiven || dirname(folder) === found) return { state: 'fine', found: made };
  const remedy = 'check the path of --data; nothing to do if all of it is to be made';
  return { state: 'warning', found: `${made}, with the folders between`, remedy };
}

export const disk: Check = {
  name: 'disk',
  async run(flags) {
    if (flags.database !== undefined) {
      return [{ state: 'skipped', found: 'the store is in PostgreSQL; no folder is needed' }];
    }
    const folder = resolve(dataFolder(flags));
    const found = nearest(folder);
    const remedy = 'name another folder with --data, or change the rights of this one';
    try {
      const stats = statSync(found);
      if (!stats.isDirectory()) {
        return [{ state: 'failure', found: `\`${found}\` is a file where a folder is needed`, remedy }];
      }
      if (found !== folder) {
        accessSync(found, constants.W_OK | constants.X_OK);
        return [
          missingFinding(folder, { found, isGiven: flags.data !== undefined }),
          await roomFinding(found),
        ];
      }
      await tryWrite(folder);
      const written = `a file in \`${folder}\` can be written and flushed`;
      return [{ state: 'fine', found: written }, await roomFinding(folder), rightsFinding(folder, stats)];
    } catch (error) {
      return [{ state: 'failure', found: writeFault(found, error).message, remedy }];
    }
  },
};

// Checks that ports are free, by listening on each for a moment.

/** The address of the health and metrics listener. */
const OPERATIONS_HOST = '127.0.0.1';

/** The default ports of serve and node. */
const USUAL_PORTS: readonly (readonly [number, string])[] = [
  [8787, 'serve --port'],
  [8788, 'serve --ops-port'],
  [8080, 'node --port'],
  [8443, 'node --tls-port'],
];

/** Opens and closes a listener. @throws the system's error */
async function tryPort(host: string, port: number): Promise<void> {
  const server = createServer();
  server.listen({ host, port, exclusive: true });
  await once(server, 'listening');
  server.close();
  await once(server, 'close');
}

/** A port to try, and the option that it is for. */
interface Wanted {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  /** Whether it is on the command line. */
  readonly given: boolean;
}

/** A port of the command line must be free; a usual one may be taken by the server that runs here. */
async function portFinding({ host, port, user, given }: Wanted): Promise<CheckFinding> {
  try {
    await tryPort(host, port);
    return { state: 'fine', found: `port ${port} of ${host} is free (${user})` };
  } catch (error) {
    const fault = listenFault(error, { host, ports: { [given ? user : '--port']: port } });
    const isTaken = (error as NodeJS.ErrnoException).code === 'EADDRINUSE';
    const reason = isTaken
      ? `port ${port} of ${host} is taken`
      : (fault?.message ?? `port ${port} of ${host}: ${reasonText(error)}`);
    const found = `${reason} (${user})`;
    if (!given) {
      const remedy = `nothing to do if edgeplan runs there; otherwise choose another with ${user}`;
      return { state: 'warning', found, remedy };
    }
    return { state: 'failure', found, ...(fault?.remedy === undefined ? {} : { remedy: fault.remedy }) };
  }
}

/** The ports of the command line; without any, the usual ones. */
function wantedPorts({ host, port = [], tlsPort, opsPort }: DoctorFlags): readonly Wanted[] {
  const given: readonly Wanted[] = [
    ...port.map((one) => ({ host, port: one, user: '--port', given: true })),
    ...(tlsPort === undefined ? [] : [{ host, port: tlsPort, user: '--tls-port', given: true }]),
    ...(opsPort === undefined
      ? []
      : [{ host: OPERATIONS_HOST, port: opsPort, user: '--ops-port', given: true }]),
  ];
  if (given.length > 0) return given;
  return USUAL_PORTS.map(([usual, user]) => ({ host, port: usual, user, given: false }));
}

export const ports: Check = {
  name: 'ports',
  async run(flags) {
    const findings: CheckFinding[] = [];
    // One after the other: two listeners on one port would find each other.
    for (const wanted of wantedPorts(flags)) findings.push(await portFinding(wanted));
    return findings;
  },
};

// Checks that each DNS resolver answers, with the client that servers and nodes use.

/** The servers of the root: every resolver of the internet has them in its cache. */
const QUESTION = { name: '', type: 'NS' } as const;

async function resolverFinding(dns: Dns, resolver: ServerAddress): Promise<CheckFinding> {
  const place = `resolver ${resolver.address} port ${resolver.port}`;
  const began = performance.now();
  try {
    const { rcode } = await dns.askResolver(resolver, QUESTION);
    const took = `in ${Math.max(1, Math.round(performance.now() - began))} ms`;
    if (rcode === 'NOERROR') return { state: 'fine', found: `${place} answers ${took}` };
    const remedy =
      'it answers and resolves no names: check where it forwards to, or name another with --resolver';
    return { state: 'warning', found: `${place} answers ${rcode} ${took}`, remedy };
  } catch (error) {
    const remedy = 'name one that answers with --resolver, or correct /etc/resolv.conf';
    return { state: 'failure', found: `${place}: ${reasonText(error)}`, remedy };
  }
}

export const resolvers: Check = {
  name: 'dns',
  async run({ resolver }) {
    const dns = createDns(resolver === undefined ? {} : { resolvers: resolver });
    if (dns.resolvers.length === 0) {
      const remedy = 'name one with --resolver: domains are proved and origins found by DNS';
      return [{ state: 'failure', found: 'this system has no DNS resolver', remedy }];
    }
    const findings = await Promise.all(dns.resolvers.map((one) => resolverFinding(dns, one)));
    // One that answers is enough: the others are asked after it.
    const works = findings.some(({ state }) => state === 'fine');
    return findings.map((one) => (works && one.state === 'failure' ? { ...one, state: 'warning' } : one));
  },
};
