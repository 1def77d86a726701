/**
 * The list of names as a file: one line a name, `<checksum> <JSON>`, the last line of a name counting. A line stands by
 * itself, so that of a file which was cut off or damaged everything else can still be read, and a change is a line more.
 */
import { xxhash32 } from '../base/xxhash32.ts';
import { type Clearance, TOMBSTONES, type Tombstone } from '../plan/manifest.ts';
import { readClearance } from './secrets.ts';

/** A plan by its revision and the SHA-256 of its sealed bytes. */
export interface PlanMark {
  readonly revision: number;
  readonly digest: string;
}

/** What a node holds for one name. */
export interface JournaledPlan {
  readonly revision: number;
  /** SHA-256 of the sealed plan, 64 lower-case hex digits; `null` where there is a tombstone. */
  readonly digest: string | null;
  readonly tombstone: Tombstone | null;
  /** The plan before this one, served while this one's file is damaged; `null`: there was none, or a tombstone between. */
  readonly previous: PlanMark | null;
  readonly purgeEpoch: number;
  /** Whose word it is, the key and above 0 its epoch (`k.e`): revisions of another say nothing. */
  readonly keyId: string;
  /** What the domain's clearance cookies are signed with; `null`: the server has one secret for all domains. */
  readonly clearance: Clearance | null;
}

/** What one line says: what is held for a name (`null`: nothing any more), or how far the manifest was read. */
export type JournalLine =
  | { readonly kind: 'name'; readonly name: string; readonly held: JournaledPlan | null }
  | { readonly kind: 'position'; readonly position: number };

/** Seeds the checksum: lines of another version of this format read as damaged. */
const VERSION = 1;
const NEWLINE = 10;
/** Hex digits of the checksum, and the space behind them. */
const PREFIX = 9;

export function lineText(line: JournalLine): string {
  if (line.kind === 'position') return checked(JSON.stringify([line.position]));
  const { name, held } = line;
  if (held === null) return checked(JSON.stringify([name]));
  const what = held.digest ?? held.tombstone;
  const { revision, purgeEpoch, keyId, previous, clearance } = held;
  const before = previous === null ? [null, null] : [previous.revision, previous.digest];
  return checked(JSON.stringify([name, revision, what, purgeEpoch, keyId, ...before, clearance]));
}

/** Names are ASCII, so a line has as many octets as characters. */
function checked(json: string): string {
  return `${xxhash32(Buffer.from(json, 'latin1'), VERSION).toString(16).padStart(8, '0')} ${json}\n`;
}

export interface ReadLines {
  readonly held: Map<string, JournaledPlan>;
  readonly position: number;
  /** Lines that were read. */
  readonly lines: number;
  /** Lines that are damaged or cut off. */
  readonly damaged: number;
  /** Names of the last lines, the newest last; at most `recent`. */
  readonly recent: readonly string[];
}

/** Reads a file's octets, whatever they are. */
export function readLines(bytes: Buffer, recent: number): ReadLines {
  const held = new Map<string, JournaledPlan>();
  const names: string[] = [];
  let position = 0;
  let lines = 0;
  let damaged = 0;
  for (let at = 0; at < bytes.length; ) {
    const found = bytes.indexOf(NEWLINE, at);
    const end = found < 0 ? bytes.length : found;
    const values = found < 0 ? null : readValues(bytes.subarray(at, end));
    at = end + 1;
    const line = values === null ? null : readLine(values);
    if (line === null) damaged++;
    else {
      lines++;
      if (line.kind === 'position') position = line.position;
      else {
        if (line.held === null) held.delete(line.name);
        else held.set(line.name, line.held);
        names.push(line.name);
        if (names.length > 2 * recent) names.splice(0, recent);
      }
    }
  }
  return { held, position, lines, damaged, recent: names.slice(-recent) };
}

function readValues(line: Buffer): readonly unknown[] | null {
  const json = line.subarray(PREFIX);
  const sum = xxhash32(json, VERSION).toString(16).padStart(8, '0');
  if (line.toString('latin1', 0, PREFIX) !== `${sum} `) return null;
  try {
    const values: unknown = JSON.parse(json.toString('latin1'));
    return Array.isArray(values) ? values : null;
  } catch {
    // Its checksum is right and it is no JSON: another program's line.
    return null;
  }
}

function readLine(values: readonly unknown[]): JournalLine | null {
  // Lines of earlier releases end before `clearance`, or before what precedes it.
  const [first, revision, what, purgeEpoch, keyId, before, digestBefore, clearance] = values;
  if (typeof first === 'number') return { kind: 'position', position: first };
  if (typeof first !== 'string') return null;
  if (values.length === 1) return { kind: 'name', name: first, held: null };
  if (typeof revision !== 'number' || typeof purgeEpoch !== 'number') return null;
  if (typeof what !== 'string' || typeof keyId !== 'string') return null;
  const tombstone = TOMBSTONES.find((one) => one === what) ?? null;
  const digest = tombstone === null ? what : null;
  const previous = readMark(before, digestBefore);
  const held = {
    revision,
    digest,
    tombstone,
    previous,
    purgeEpoch,
    keyId,
    clearance: readClearance(clearance),
  };
  return { kind: 'name', name: first, held };
}

function readMark(revision: unknown, digest: unknown): PlanMark | null {
  return typeof revision === 'number' && typeof digest === 'string' ? { revision, digest } : null;
}
