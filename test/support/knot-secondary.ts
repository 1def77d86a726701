/** Knot as a secondary of the hidden primary: transfers zones with TSIG and accepts its NOTIFY. */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ServerAddress } from '../../src/control/dns/server-address.ts';

export interface KnotSecondary {
  /** What it has logged so far. */
  log(): string;
  stop(): Promise<void>;
}

export interface KnotSecondaryOptions {
  readonly listen: ServerAddress;
  readonly primary: ServerAddress;
  /** As `kdig -y` takes it. */
  readonly key: string;
  readonly zones: readonly string[];
}

/** Starts it without zone files: its first versions are transferred. */
export function startKnotSecondary({ listen, primary, key, zones }: KnotSecondaryOptions): KnotSecondary {
  const folder = mkdtempSync(join(tmpdir(), 'edgeplan-knot-'));
  const [algorithm, name, secret] = key.split(':');
  const config = join(folder, 'knot.conf');
  writeFileSync(
    config,
    `server:
  rundir: "${folder}"
  listen: "${listen.address}@${listen.port}"
  udp-workers: 1
  tcp-workers: 1
  background-workers: 1
log:
  - target: stderr
    any: debug
database:
  storage: "${folder}"
key:
  - id: ${name}
    algorithm: ${algorithm}
    secret: ${secret}
remote:
  - id: primary
    address: "${primary.address}@${primary.port}"
    key: ${name}
acl:
  - id: notify
    key: ${name}
    action: notify
template:
  - id: default
    storage: "${folder}"
    master: primary
    acl: notify
    journal-content: changes
zone:
${zones.map((zone) => `  - domain: ${zone}`).join('\n')}
`,
  );
  const child = spawn('/usr/sbin/knotd', ['-c', config], { stdio: ['ignore', 'pipe', 'pipe'] });
  let log = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (log += String(chunk)));
  return {
    log: () => log,
    async stop() {
      const gone = new Promise((resolve) => child.once('exit', resolve));
      if (child.exitCode === null) {
        child.kill('SIGTERM');
        await gone;
      }
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
