/** Knot as a hidden primary on loopback with a catalog zone: what tests of the engines transfer from. */
import { execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from './dns-daemons.ts';
import type { TsigKey } from './zone-engines.ts';

export interface ZonePrimary {
  readonly address: string;
  readonly port: number;
  readonly key: TsigKey;
  readonly catalog: string;
  readonly log: string;
  /** Adds a zone, or replaces its records (master file form, without SOA); returns its serial. */
  put(zone: string, records: string): Promise<number>;
  remove(zone: string): void;
  stop(): Promise<void>;
}

/** @param zones those that may be put */
export async function startZonePrimary(
  zones: readonly string[],
  secondaries: readonly number[],
): Promise<ZonePrimary> {
  const folder = mkdtempSync(join(tmpdir(), 'edgeplan-primary-'));
  const catalog = 'catalog.edgeplan.invalid';
  const key = { name: 'edgeplan', secret: randomBytes(32).toString('base64') };
  const address = '127.0.0.1';
  const port = await freePort(address);
  const serials = new Map<string, number>();
  const members = new Set<string>();
  const write = (zone: string, records: string): number => {
    const serial = (serials.get(zone) ?? 0) + 1;
    serials.set(zone, serial);
    const soa = `@ SOA ns1.example.net. hostmaster.example.net. ${serial} 3600 600 86400 60`;
    writeFileSync(join(folder, `${zone}.zone`), `$ORIGIN ${zone}.\n$TTL 300\n${soa}\n${records}\n`);
    return serial;
  };
  const writeCatalog = (): void => {
    const list = [...members].map((zone) => `${zone.replaceAll('.', '-')}.zones PTR ${zone}.`);
    write(catalog, ['@ NS invalid.', 'version TXT "2"', ...list].join('\n'));
  };
  writeCatalog();
  for (const zone of zones) write(zone, '@ NS ns1.example.net.');
  const config = join(folder, 'knot.conf');
  writeFileSync(
    config,
    `server:
  rundir: "${folder}"
  listen: "${address}@${port}"
log:
  - target: stderr
    any: info
database:
  storage: "${folder}"
key:
  - id: ${key.name}
    algorithm: hmac-sha256
    secret: "${key.secret}"
remote:
${secondaries.map((one) => `  - id: s${one}\n    address: ${address}@${one}\n    key: ${key.name}`).join('\n')}
acl:
  - id: transfer
    key: ${key.name}
    action: transfer
template:
  - id: default
    storage: "${folder}"
    file: "%s.zone"
    notify: [ ${secondaries.map((one) => `s${one}`).join(', ')} ]
    acl: transfer
    zonefile-load: difference
    zonefile-sync: -1
    journal-content: changes
zone:
${[catalog, ...zones].map((zone) => `  - domain: ${zone}`).join('\n')}
`,
  );
  const child = spawn('knotd', ['-c', config], { stdio: ['ignore', 'ignore', 'pipe'] });
  const log: string[] = [];
  await new Promise<void>((resolve, reject) => {
    child.stderr.on('data', (chunk) => {
      log.push(String(chunk));
      if (log.join('').includes('server started')) resolve();
    });
    child.once('exit', () => reject(new Error(log.join(''))));
  });
  const reload = (zone: string): void => {
    execFileSync('knotc', ['-c', config, '--blocking', 'zone-reload', zone]);
  };
  return {
    address,
    port,
    key,
    catalog,
    get log() {
      return log.join('');
    },
    async put(zone, records) {
      const serial = write(zone, records);
      reload(zone);
      if (!members.has(zone)) {
        members.add(zone);
        writeCatalog();
        reload(catalog);
      }
      return serial;
    },
    remove(zone) {
      members.delete(zone);
      writeCatalog();
      reload(catalog);
    },
    async stop() {
      const gone = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGTERM');
      await gone;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
