/** `edgeplan serve --zones` as a process, and kdig as a name server that transfers from it. */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Served, type ServeOptions, serve } from './served.ts';

export const NAMESERVERS = ['ns1.edge.test', 'ns2.edge.test'];
export const EDGE_ADDRESSES = ['192.0.2.1', '2001:db8::1'];
export const CATALOG = 'catalog.edgeplan.invalid';

/** A key of hmac-sha256. */
export interface ZoneKey {
  readonly name: string;
  readonly secret: string;
}

export function newZoneKey(name = 'edge'): ZoneKey {
  return { name, secret: randomBytes(32).toString('base64') };
}

/** A server with zones. */
export interface ZonesServed extends Served {
  readonly zones: { readonly address: string; readonly port: number };
  readonly zoneKey: ZoneKey;
}

export interface ZonesServeOptions extends ServeOptions {
  readonly zoneKey?: ZoneKey;
  /** `address:port` of name servers. */
  readonly secondaries?: readonly string[];
  /** 0, the default: any. */
  readonly zonesPort?: number;
}

export async function serveZones({
  zoneKey = newZoneKey(),
  secondaries = [],
  zonesPort = 0,
  args = [],
  ...options
}: ZonesServeOptions = {}): Promise<ZonesServed> {
  const folder = mkdtempSync(join(tmpdir(), 'edgeplan-keys-'));
  const file = join(folder, 'keys');
  writeFileSync(file, `# test\nhmac-sha256:${zoneKey.name}:${zoneKey.secret}\n`);
  const served = await serve({
    ...options,
    args: [
      ...['--zones', `127.0.0.1:${zonesPort}`, '--tsig-keys', file],
      ...['--ns-set', NAMESERVERS.join(','), '--edge-addresses', EDGE_ADDRESSES.join(',')],
      ...(secondaries.length === 0
        ? []
        : ['--secondaries', secondaries.map((one) => `${one}#${zoneKey.name}`).join(',')]),
      ...args,
    ],
  });
  const [, address, port] = /zones on (\S+):(\d+)/.exec(served.said())!;
  return {
    ...served,
    zones: { address: address!, port: Number(port) },
    zoneKey,
    async stop() {
      await served.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const run = promisify(execFile);

/** What kdig prints for a query; `key`: signs with it. */
export async function kdig(
  { address, port }: { readonly address: string; readonly port: number },
  question: readonly string[],
  key?: ZoneKey,
): Promise<string> {
  const signed = key === undefined ? [] : ['-y', `hmac-sha256:${key.name}:${key.secret}`];
  const args = [...signed, `@${address}`, '-p', String(port), '+time=20', '+retry=0', ...question];
  const { stdout } = await run('kdig', args, { maxBuffer: 64 * 1_048_576 }).catch((error: unknown) => {
    const { stdout: out, stderr } = error as { readonly stdout: string; readonly stderr: string };
    return { stdout: `${out}${stderr}` };
  });
  return stdout;
}

/** The records of a zone without SOA and TSIG, `name TTL type data`, sorted. */
export async function transferred(served: ZonesServed, zone: string): Promise<readonly string[]> {
  const text = await kdig(served.zones, [zone, 'AXFR', '+noall', '+answer'], served.zoneKey);
  return recordLines(text).filter((line) => !/ SOA | TSIG /.test(line));
}

/** Lines of records as kdig prints them, with one blank between fields, without the class. */
export function recordLines(text: string): readonly string[] {
  return text
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith(';'))
    .map((line) => line.replace(/\s+/g, ' ').replace(/^(\S+ \d+) IN /, '$1 '))
    .sort();
}

/** The serial that the server answers; `null`: it has no such zone. */
export async function servedSerial(served: ZonesServed, zone: string): Promise<number | null> {
  const text = await kdig(served.zones, [zone, 'SOA', '+noall', '+answer'], served.zoneKey);
  const found = / SOA \S+ \S+ (\d+)/.exec(recordLines(text).join('\n'));
  return found === null ? null : Number(found[1]);
}
