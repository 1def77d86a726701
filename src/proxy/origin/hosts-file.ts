/** The system's own table of names (`hosts(5)`), which stands before the DNS. */
import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { fileMark } from '../../platform/file-mark.ts';

export interface HostsFile {
  /** Addresses of a lower-case name, in the file's order; empty: it names none. */
  addressesOf(name: string): Promise<readonly string[]>;
}

/** Reads a table anew when it changed; one that cannot be read names nobody. */
export function openHostsFile(path: string): HostsFile {
  let seen = '';
  let names: ReadonlyMap<string, readonly string[]> = new Map();
  return {
    async addressesOf(name) {
      const mark = await fileMark(path);
      if (mark !== seen) {
        names = readHosts(await readFile(path, 'latin1').catch(() => ''));
        seen = mark;
      }
      return names.get(name) ?? [];
    },
  };
}

function readHosts(text: string): ReadonlyMap<string, readonly string[]> {
  const names = new Map<string, string[]>();
  for (const line of text.split('\n')) {
    const [address = '', ...named] = line.split('#', 1)[0]!.trim().split(/\s+/);
    if (isIP(address) === 0) continue;
    for (const name of named) {
      const key = name.toLowerCase();
      names.set(key, [...(names.get(key) ?? []), address]);
    }
  }
  return names;
}
