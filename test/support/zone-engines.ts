/** Name servers from Debian as secondaries of edgeplan on loopback, started by `fixtures/zones/engine`. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from './dns-daemons.ts';
import { missingFile, missingProgram } from './requires.ts';

export const ENGINES = ['knot', 'nsd', 'bind', 'powerdns'] as const;
export type EngineKind = (typeof ENGINES)[number];

const SCRIPT = fileURLToPath(new URL('../../fixtures/zones/engine', import.meta.url));

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

export interface TsigKey {
  readonly name: string;
  /** Of hmac-sha256, in base64. */
  readonly secret: string;
}

export interface EngineOptions {
  readonly primary: { readonly address: string; readonly port: number };
  readonly key: TsigKey;
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
  /** Records of the answer in presentation form, `name TTL class type data`, sorted. */
  readonly answer: readonly string[];
  /** The same for the authority section. */
  readonly authority: readonly string[];
}

export interface Engine {
  readonly kind: EngineKind;
  readonly address: string;
  readonly port: number;
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
  const start = async (question: readonly string[], enough: (reply: Reply) => boolean): Promise<void> => {
    // The leader of a process group: NSD has children.
    child = spawn(SCRIPT, [kind], { env, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
    child.stdout!.on('data', (chunk) => log.push(String(chunk)));
    child.stderr!.on('data', (chunk) => log.push(String(chunk)));
    const attempts = { child, log };
    await untilAnswered(`${kind} on ${address} port ${port}`, attempts, async () =>
      enough(await ask(server, question)),
    );
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
    await start(['-k', keys, '+tcp', catalog, 'SOA'], ({ answer }) => answer.length > 0);
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
      return answer.length === 0 ? null : Number(answer[0]!.split(' ')[6]);
    },
    stop,
    kill9: () => end('SIGKILL'),
    async restart() {
      await end('SIGTERM');
      // REFUSED will do: this name is in no zone.
      await start(['restarted.invalid', 'TXT'], ({ status }) => status !== '');
    },
  };
}

/** Asks a name server by kdig, which shows every type in presentation form. `status` is empty where nothing answers. */
export async function ask(
  { address, port }: { readonly address: string; readonly port: number },
  question: readonly string[],
): Promise<Reply> {
  const options = [
    '+noall',
    '+header',
    '+answer',
    '+authority',
    '+comments',
    '+norec',
    '+timeout=1',
    '+retry=0',
  ];
  const output = await new Promise<string>((resolve, reject) => {
    execFile('kdig', [`@${address}`, '-p', String(port), ...options, ...question], (error, stdout) => {
      // kdig exits with 1 where there is no answer.
      if (error !== null && typeof error.code !== 'number') reject(error);
      else resolve(stdout);
    });
  });
  const sections: Record<string, string[]> = { ANSWER: [], AUTHORITY: [] };
  let section: string[] = [];
  for (const line of output.split('\n')) {
    const heading = /^;; (\w+) SECTION/.exec(line)?.[1];
    if (heading !== undefined) section = sections[heading] ?? [];
    else if (line !== '' && !line.startsWith(';')) section.push(line.replace(/\s+/g, ' '));
  }
  return {
    status: /status: (\w+)/.exec(output)?.[1] ?? '',
    flags: /Flags: ([\w ]*)/.exec(output)?.[1]?.split(' ') ?? [],
    answer: sections['ANSWER']!.sort(),
    authority: sections['AUTHORITY']!.sort(),
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
