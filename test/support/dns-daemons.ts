/** Real DNS servers from Debian on loopback: NSD as a registry, Knot as a DNS host. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { queryServer } from '../../src/control/dns/message.ts';
import { missingFile } from './requires.ts';

const NSD = '/usr/sbin/nsd';
const KNOT = '/usr/sbin/knotd';

/** Why the tests cannot run here, or `null`. */
export function missingDaemons(): string | null {
  return missingFile(NSD, 'nsd') ?? missingFile(KNOT, 'knot');
}

export interface Daemon {
  /** Writes the zone anew and waits until the server serves that serial. */
  load(zone: string, serial: number): Promise<void>;
  stop(): Promise<void>;
}

export interface DaemonOptions {
  readonly addresses: readonly string[];
  readonly port: number;
  /** The one zone it serves. */
  readonly origin: string;
  /** Records in master file form, without SOA. */
  readonly zone: string;
}

export function startNsd(options: DaemonOptions): Promise<Daemon> {
  const { addresses, port, origin } = options;
  return start(options, NSD, (folder) => {
    const config = join(folder, 'nsd.conf');
    writeFileSync(
      config,
      `server:
${addresses.map((address) => `  ip-address: ${address}@${port}`).join('\n')}
  server-count: 1
  username: ""
  zonesdir: "${folder}"
  pidfile: "${folder}/nsd.pid"
  database: ""
  xfrdir: "${folder}"
  xfrdfile: "${folder}/xfrd.state"
  zonelistfile: "${folder}/zone.list"
remote-control:
  control-enable: no
zone:
  name: ${origin}
  zonefile: zone
`,
    );
    return ['-d', '-c', config];
  });
}

export function startKnot(options: DaemonOptions): Promise<Daemon> {
  const { addresses, port, origin } = options;
  return start(options, KNOT, (folder) => {
    const config = join(folder, 'knot.conf');
    writeFileSync(
      config,
      `server:
  rundir: "${folder}"
  listen: [ ${addresses.map((address) => `"${address}@${port}"`).join(', ')} ]
  udp-workers: 1
  tcp-workers: 1
  background-workers: 1
database:
  storage: "${folder}"
zone:
  - domain: ${origin}
    storage: "${folder}"
    file: zone
`,
    );
    return ['-c', config];
  });
}

async function start(
  { addresses, port, origin, zone }: DaemonOptions,
  program: string,
  configure: (folder: string) => readonly string[],
): Promise<Daemon> {
  const folder = mkdtempSync(join(tmpdir(), 'edgeplan-dns-'));
  const write = (records: string, serial: number): void => {
    const soa = `@ IN SOA a.nic.example. hostmaster.example. ${serial} 3600 600 86400 60`;
    writeFileSync(
      join(folder, 'zone'),
      `$ORIGIN ${origin}.\n$TTL 60\n${soa}\nserial-${serial} IN TXT x\n${records}\n`,
    );
  };
  write(zone, 1);
  const child = spawn(program, configure(folder), { stdio: ['ignore', 'pipe', 'pipe'] });
  const log: string[] = [];
  child.stdout.on('data', (chunk) => log.push(String(chunk)));
  child.stderr.on('data', (chunk) => log.push(String(chunk)));
  const serves = (serial: number): Promise<void> =>
    untilServed({ address: addresses[0]!, port }, origin, { serial, child, log });
  await serves(1);
  return {
    async load(records, serial) {
      write(records, serial);
      child.kill('SIGHUP');
      await serves(serial);
    },
    async stop() {
      const gone = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGTERM');
      await gone;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Every zone of these tests carries its serial in a TXT record, since the room asks for no SOA. */
async function untilServed(
  server: { readonly address: string; readonly port: number },
  origin: string,
  wait: { readonly serial: number; readonly child: ChildProcess; readonly log: readonly string[] },
): Promise<void> {
  for (let attempt = 0; attempt < 200; attempt++) {
    if (wait.child.exitCode !== null) break;
    try {
      const question = { name: `serial-${wait.serial}.${origin}`, type: 'TXT' } as const;
      const reply = await queryServer(server, question, { recursive: false, timeoutMs: 100 });
      if (reply.answers.length > 0) return;
    } catch {
      // Not up yet.
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`the DNS server does not serve ${origin}: ${wait.log.join('')}`);
}
