/** Name servers from Debian as secondaries of edgeplan on loopback, started by `fixtures/zones/engine`. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from './free-ports.ts';
import { missingFile, missingProgram } from './requires.ts';
import { kdig, recordLines, type ZoneKey } from './zones-served.ts';

export const ENGINES = ['knot', 'nsd', 'bind', 'powerdns'] as const;
export type EngineKind = (typeof ENGINES)[number];

export const FIXTURES = fileURLToPath(new URL('../../fixtures/zones', import.meta.url));

/** Program and Debian package of each engine, beside kdig. */
const PROGRAMS: Readonly<Record<EngineKind, readonly [program: string, debianPackage: string][]>> = {
  knot: [['knotd', 'knot']],
  nsd: [['nsd', 'nsd']],
  bind: [['named', 'bind9']],
  powerdns: [
    ['pdns_server', 'pdns-server'],
    ['sqlite3', 'sqlite3'],
  ],
};

/** Why an engine cannot run here, or `null`. */
export function missingEngine(kind: EngineKind): string | null {
  const reasons = [['kdig', 'knot-dnsutils'] as const, ...PROGRAMS[kind]].map(([name, debianPackage]) =>
    missingProgram(name, debianPackage),
  );
  if (kind === 'powerdns') {
    reasons.push(
      missingFile('/usr/share/pdns-backend-sqlite3/schema/schema.sqlite3.sql', 'pdns-backend-sqlite3'),
    );
  }
  return reasons.find((reason) => reason !== null) ?? null;
}

interface EngineAddress {
  readonly address: string;
  readonly port: number;
}

export interface EngineOptions {
  readonly primary: EngineAddress;
  readonly key: ZoneKey;
  /** The catalog zone, without the last dot. */
  readonly catalog: string;
  /** 127.0.0.1 by default. */
  readonly address?: string;
  /** A free one by default. */
  readonly port?: number;
  /** Knot signs; true by default. */
  readonly dnssec?: boolean;
}

export interface Reply {
  /** `NOERROR`, `NXDOMAIN`, `REFUSED`, … */
  readonly status: string;
  /** Flags of the header: `qr aa rd`. */
  readonly flags: readonly string[];
  /** Records of the answer as `recordLines` has them: `name TTL type data`, sorted. */
  readonly answer: readonly string[];
}

export interface Engine extends EngineAddress {
  readonly kind: EngineKind;
  /** Files and state of the engine, removed by `stop`. */
  readonly folder: string;
  /** What it has logged since the first start. */
  readonly log: string;
  query(name: string, type: string): Promise<Reply>;
  /** The serial of the zone's SOA, or `null` where the engine does not answer for the zone. */
  serial(zone: string): Promise<number | null>;
  stop(): Promise<void>;
  /** Kills it and its children; `restart` starts it again. */
  kill9(): Promise<void>;
  /** Ends it where it runs, and starts it on the same folder and port. Waits until it answers at all. */
  restart(): Promise<void>;
}

/** Starts an engine and waits until it has the catalog zone. @throws with its log where it ends or does not get there */
export async function startEngine(kind: EngineKind, options: EngineOptions): Promise<Engine> {
  const { primary, key, catalog, address = '127.0.0.1', dnssec = true } = options;
  const port = options.port ?? (await freePort(address));
  const folder = mkdtempSync(join(tmpdir(), `edgeplan-${kind}-`));
  const keys = join(folder, 'keys');
  writeFileSync(keys, `hmac-sha256:${key.name}:${key.secret}\n`, { mode: 0o600 });
  const env = {
    PATH: process.env['PATH'],
    FOLDER: join(folder, 'engine'),
    ADDRESS: address,
    PORT: String(port),
    PRIMARY_ADDRESS: primary.address,
    PRIMARY_PORT: String(primary.port),
    KEYS: keys,
    CATALOG: catalog,
    DNSSEC: dnssec ? 'on' : 'off',
  };
  const log: string[] = [];
  const server = { address, port };
  let child: ChildProcess;
  const start = async (answers: () => Promise<boolean>): Promise<void> => {
    // The leader of a process group: NSD has children.
    child = spawn(join(FIXTURES, 'engine'), [kind], {
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    child.stdout!.on('data', (chunk) => log.push(String(chunk)));
    child.stderr!.on('data', (chunk) => log.push(String(chunk)));
    await untilAnswered(`${kind} on ${address} port ${port}`, { child, log }, answers);
  };
  const end = async (signal: 'SIGTERM' | 'SIGKILL'): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const gone = new Promise((resolve) => child.once('close', resolve));
    process.kill(-child.pid!, signal);
    await gone;
  };
  const stop = async (): Promise<void> => {
    await end('SIGTERM');
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    // Knot answers for a catalog by TCP alone, and to a signed query.
    await start(async () => (await ask(server, [catalog, 'SOA', '+tcp'], key)).answer.length > 0);
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    kind,
    ...server,
    folder: env.FOLDER,
    get log() {
      return log.join('');
    },
    query: (name, type) => ask(server, [name, type]),
    async serial(zone) {
      const { answer } = await ask(server, [zone, 'SOA']);
      return answer.length === 0 ? null : Number(answer[0]!.split(' ')[5]);
    },
    stop,
    kill9: () => end('SIGKILL'),
    async restart() {
      await end('SIGTERM');
      // REFUSED will do: this name is in no zone.
      await start(async () => (await ask(server, ['restarted.invalid', 'TXT'])).status !== '');
    },
  };
}

/** Asks once. `status` is empty where nothing answers. */
async function ask(server: EngineAddress, question: readonly string[], key?: ZoneKey): Promise<Reply> {
  const options = ['+noall', '+header', '+answer', '+norec', '+timeout=1'];
  const output = await kdig(server, [...options, ...question], key);
  return {
    status: /status: (\w+)/.exec(output)?.[1] ?? '',
    flags: /Flags: ([\w ]*)/.exec(output)?.[1]?.split(' ') ?? [],
    answer: recordLines(output),
  };
}

async function untilAnswered(
  engine: string,
  { child, log }: { readonly child: ChildProcess; readonly log: readonly string[] },
  answers: () => Promise<boolean>,
): Promise<void> {
  const deadline = Date.now() + 60_000;
  while (child.exitCode === null && child.signalCode === null && Date.now() < deadline) {
    if (await answers()) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`${engine} does not answer: ${log.join('')}`);
}
