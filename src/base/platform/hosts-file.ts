/** The system's hosts file (`hosts(5)`), which takes precedence over the DNS. */
import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { fileMark } from './watched-file.ts';

export interface HostsFile {
  /** Addresses of a lower-case name, in the file's order; empty: the file does not list the name. */
  addressesOf(name: string): Promise<readonly string[]>;
}

/** Reads the file again when it has changed; a file that cannot be read counts as empty. */
export function openHostsFile(path: string): HostsFile {
  let lastMark = '';
  let names: ReadonlyMap<string, readonly string[]> = new Map();
  return {
    async addressesOf(name) {
      const mark = await fileMark(path);
      if (mark !== lastMark) {
        names = readHosts(await readFile(path, 'latin1').catch(() => ''));
        lastMark = mark;
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
