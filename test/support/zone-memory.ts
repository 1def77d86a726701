/** A source of zones in memory, with every version; and what tests of the room share. */
import { execFile } from 'node:child_process';
import { createSecretKey, randomBytes } from 'node:crypto';
import type { ZoneLog } from '../../src/control/zones/log.ts';
import {
  diffContents,
  encodeName,
  packRecords,
  type ResourceRecord,
  TYPES,
} from '../../src/control/zones/wire/records.ts';
import type { TsigAlgorithm, TsigKey } from '../../src/control/zones/wire/tsig.ts';
import type { ZoneHead, ZoneSource } from '../../src/control/zones/zone-source.ts';

export interface MemoryZones extends ZoneSource {
  /** Makes the records the content of a version. */
  set(name: string, serial: number, records: readonly ResourceRecord[]): ZoneHead;
  remove(name: string): void;
  /** Removes versions before that serial. */
  prune(name: string, serial: number): void;
  /** What reads throw from now on; `null`: nothing. */
  fail(error: Error | null): void;
}

interface Version {
  readonly serial: number;
  readonly content: Uint8Array;
}

export function createMemoryZones(): MemoryZones {
  const zones = new Map<string, Version[]>();
  let failure: Error | null = null;
  const headOf = (name: string, serial: number): ZoneHead => ({ name, serial, primary: PRIMARY });
  const read = (name: string): readonly Version[] | undefined => {
    if (failure !== null) throw failure;
    return zones.get(name);
  };
  return {
    set(name, serial, records) {
      const versions = zones.get(name) ?? [];
      zones.set(name, [...versions, { serial, content: packRecords(records) }]);
      return headOf(name, serial);
    },
    remove: (name) => void zones.delete(name),
    prune(name, serial) {
      zones.set(
        name,
        zones.get(name)!.filter((one) => one.serial >= serial),
      );
    },
    fail(error) {
      failure = error;
    },
    async head(name) {
      const last = read(name)?.at(-1);
      return last === undefined ? null : headOf(name, last.serial);
    },
    async whole(name) {
      const last = read(name)?.at(-1);
      return last === undefined ? null : { head: headOf(name, last.serial), content: last.content };
    },
    async since(name, serial) {
      const versions = read(name);
      if (versions === undefined) return null;
      const head = headOf(name, versions.at(-1)!.serial);
      const first = versions.findIndex((one) => one.serial === serial);
      if (first === -1) return { head, steps: null };
      const steps = versions.slice(first + 1).map((to, index) => {
        const from = versions[first + index]!;
        return { from: from.serial, to: to.serial, ...diffContents(from.content, to.content) };
      });
      return { head, steps };
    },
  };
}

const PRIMARY = 'ns1.edge.test';

/** An A record. */
export function aRecord(name: string, address: string, ttl = 300): ResourceRecord {
  return { name, type: TYPES.A, ttl, rdata: Buffer.from(address.split('.').map(Number)) };
}

/** An NS record. */
export function nsRecord(name: string, target: string): ResourceRecord {
  return { name, type: TYPES.NS, ttl: 300, rdata: encodeName(target) };
}

/** A key with a random secret, and how `kdig -y` takes it. */
export function makeKey(
  name: string,
  algorithm: TsigAlgorithm = 'hmac-sha256',
): { readonly key: TsigKey; readonly text: string } {
  const secret = randomBytes(32);
  return {
    key: { name, algorithm, secret: createSecretKey(secret) },
    text: `${algorithm}:${name}:${secret.toString('base64')}`,
  };
}

export interface LogEntry {
  readonly fields: Readonly<Record<string, unknown>>;
  readonly message: string;
}

export interface MemoryLog extends ZoneLog {
  readonly entries: readonly LogEntry[];
}

/** A log that a test reads. */
export function createMemoryLog(): MemoryLog {
  const entries: LogEntry[] = [];
  const add = (fields: object, message: string): void => {
    entries.push({ fields: fields as LogEntry['fields'], message });
  };
  return { entries, info: add, warn: add };
}

/** The output of a program, with what it writes to standard error; never rejects for its exit status. */
export function output(program: string, args: readonly string[]): Promise<string> {
  return new Promise((resolve) => {
    execFile(program, args, { maxBuffer: 64 * 1024 * 1024 }, (_error, stdout, stderr) =>
      resolve(stdout + stderr),
    );
  });
}
