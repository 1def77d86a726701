/**
 * Stores certificate sets beside the plans, so that a node serves TLS after a restart without a control plane: one file for
 * each domain in the folder `certificates`, with the box as it was received. A set that was removed leaves a file without a
 * box: its position shows that an older entry of the manifest is old.
 *
 * A file is the SHA-256 of what follows, a line of JSON, and the box. It is replaced in one step.
 */
import { readdir, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { sha256Hex } from '../../../base/platform/cryptography.ts';
import {
  makeFolder,
  removeUnfinished,
  syncFolder,
  writeDurably,
} from '../../../base/platform/durable-file.ts';
import { isObject } from '../../../base/text/json-object.ts';
import { MAX_BOX_OCTETS } from '../limits.ts';

/** A set as it is stored. */
export interface StoredSet {
  readonly domain: string;
  /** SHA-256 of the set's JSON text; `null`: the domain has no set any more. */
  readonly digest: string | null;
  /** The position of the manifest entry that named the set. */
  readonly position: number;
  /** The history that the position belongs to, as `JournaledPlan.keyId`. */
  readonly keyId: string;
  /** Empty if `digest` is `null`. */
  readonly box: Uint8Array;
}

const FORMAT = 'edgeplan.stored-set/v1';
const NEWLINE = 10;
/** Characters of a SHA-256 in hex. */
const SUM_LENGTH = 64;
/** Octets of a file besides the box: the digest, and a line with a name of at most 253 characters. */
const HEAD_OCTETS = 1_024;

/** The stored sets of a folder. */
export interface SetFiles {
  /** All files in turn; `set` is `null` for one that is damaged or cannot be read. */
  read(): AsyncGenerator<{ readonly file: string; readonly set: StoredSet | null }>;
  /** Replaces the file of a domain; it is durable when this resolves. */
  write(set: StoredSet): Promise<void>;
  /** Removes the file of a domain. */
  remove(domain: string): Promise<void>;
  /** Removes a file that `read` named. */
  drop(file: string): Promise<void>;
}

/** Opens the folder of sets in the node's folder, or creates it. @throws the system's error when it cannot be used */
export async function openSetFiles(directory: string): Promise<SetFiles> {
  const folder = folderOf(directory);
  makeFolder(folder, { mode: 0o700 });
  await removeUnfinished(folder);
  const drop = async (file: string): Promise<void> => {
    await rm(join(folder, file), { force: true });
    await syncFolder(folder);
  };
  return {
    async *read() {
      for (const file of await readdir(folder)) yield { file, set: await readSet(folder, file) };
    },
    write: (set) => writeDurably(join(folder, fileOf(set.domain)), contentOf(set)),
    remove: (domain) => drop(fileOf(domain)),
    drop,
  };
}

/** Removes all stored sets: a node without TLS stores no keys. */
export async function removeSetFiles(directory: string): Promise<void> {
  await rm(folderOf(directory), { recursive: true, force: true });
}

function folderOf(directory: string): string {
  return join(directory, 'certificates');
}

/** The file of a domain: a name of 253 characters with the ending of a draft is too long for file systems. */
function fileOf(domain: string): string {
  return sha256Hex(domain);
}

function contentOf({ box, ...facts }: StoredSet): Buffer {
  const rest = Buffer.concat([Buffer.from(`${JSON.stringify({ format: FORMAT, ...facts })}\n`), box]);
  return Buffer.concat([Buffer.from(`${sha256Hex(rest)}\n`), rest]);
}

async function readSet(folder: string, file: string): Promise<StoredSet | null> {
  const octets = await readBounded(join(folder, file));
  if (octets === null) return null;
  const rest = octets.subarray(SUM_LENGTH + 1);
  if (octets.toString('latin1', 0, SUM_LENGTH) !== sha256Hex(rest)) return null;
  const end = rest.indexOf(NEWLINE);
  const facts = end < 0 ? null : parseFacts(rest.toString('utf8', 0, end));
  if (facts === null || fileOf(facts.domain) !== file) return null;
  return { ...facts, box: rest.subarray(end + 1) };
}

/** `null`: the file is too long, or cannot be read, as one with a bad sector. */
async function readBounded(path: string): Promise<Buffer | null> {
  try {
    return (await stat(path)).size > MAX_BOX_OCTETS + HEAD_OCTETS ? null : await readFile(path);
  } catch {
    // The caller reports the file; it is fetched again.
    return null;
  }
}

/** `null`: another program, or another release, wrote the line. */
function parseFacts(line: string): Omit<StoredSet, 'box'> | null {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return null;
  }
  if (!isObject(value) || value['format'] !== FORMAT) return null;
  const { domain, digest, position, keyId } = value;
  if (typeof domain !== 'string' || typeof keyId !== 'string' || typeof position !== 'number') return null;
  if (digest !== null && typeof digest !== 'string') return null;
  return { domain, digest, position, keyId };
}
