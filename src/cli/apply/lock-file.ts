/**
 * Reads and writes `edge.lock`: which rule of a server is meant by each key of an edge file. The API has no field for a key,
 * so the lock is what makes an edited rule the same rule on the server, with its id, hits, counters and clearances. It is
 * JSON with a line for each key, sorted, so that version control merges it.
 */
import { MAX_FILE_OCTETS } from '../../base/vocabulary/limits.ts';
import { RULE_TYPES } from '../../base/vocabulary/vocabulary.ts';
import { sizeText } from '../../rules/files/size.ts';
import { isMapping } from '../../rules/files/yaml.ts';
import type { Rule } from '../../rules/model/types.ts';
import { type CommandFault, inputFault } from '../exit.ts';
import { readBytes, refuseOutside } from '../input/read-file.ts';
import { jsonFormat, note } from '../output.ts';
import type { RemoteDomain } from '../remote/remote-domain.ts';
import { writeWhole } from '../write-file.ts';
import type { DesiredState } from './desired-state.ts';
import type { ChangePlan, PlannedChange } from './plan-changes.ts';

const FORMAT = jsonFormat('lock');

/** Which rules of a domain of a server the keys mean. */
export interface LockSection {
  /** When the server's domain was made; another time is another domain of the name. `null`: unknown. */
  readonly createdAt: string | null;
  /** Ids by `<type>/<key>`. */
  readonly ids: ReadonlyMap<string, number>;
}

/** Sections by the server's address, then by domain. */
export type LockSections = ReadonlyMap<string, ReadonlyMap<string, LockSection>>;

/** The lock of an edge file: `shop/edge.lock` of `shop/edge.yaml`; `null`: stdin has none. */
export function lockPath(file: string): string | null {
  return file === '-' ? null : `${file.replace(/\.(ya?ml|json)$/, '')}.lock`;
}

/** The address of a server as the lock has it: without credentials and a slash at the end. */
export function serverName(url: string): string {
  if (!URL.canParse(url)) return url;
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname.replace(/\/+$/, '')}`;
}

/** Reads a lock; one that does not exist is empty. @throws CommandFault when it is no lock */
export async function readLock(path: string): Promise<LockSections> {
  let octets: Uint8Array;
  refuseOutside(path);
  try {
    octets = await readBytes(path);
  } catch (error) {
    if (((error as Error).cause as NodeJS.ErrnoException | undefined)?.code === 'ENOENT') return new Map();
    throw error;
  }
  if (octets.length > MAX_FILE_OCTETS) throw noLock(path, `it has more than ${sizeText(MAX_FILE_OCTETS)}`);
  const text = new TextDecoder().decode(octets);
  if (/^(?:<{7}|>{7})/m.test(text)) throw noLock(path, 'it has the marks of a merge conflict');
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw noLock(path, 'it is not JSON', cause);
  }
  if (!isMapping(value) || value['format'] !== FORMAT) throw noLock(path, `its format is not ${FORMAT}`);
  return sectionsOf(value['servers'], path);
}

/** The fault of a file that cannot be used. */
function noLock(path: string, why: string, cause?: unknown): CommandFault {
  const remedy = 'correct it, or remove it: without a lock rules are compared by their content';
  return inputFault(`\`${path}\` is not a lock file: ${why}`, { remedy, cause });
}

/** Parses the sections. @throws CommandFault */
function sectionsOf(servers: unknown, path: string): LockSections {
  const wrong = (where: string): CommandFault => noLock(path, `${where} has another shape`);
  if (!isMapping(servers)) throw wrong('`servers`');
  const sections = new Map<string, ReadonlyMap<string, LockSection>>();
  for (const [server, domains] of Object.entries(servers)) {
    if (!isMapping(domains)) throw wrong(`\`${server}\``);
    const found = Object.entries(domains).map(([domain, section]) => {
      const read = sectionOf(section);
      if (read === null) throw wrong(`\`${domain}\` of \`${server}\``);
      return [domain, read] as const;
    });
    sections.set(server, new Map(found));
  }
  return sections;
}

/** Parses a section; `null`: it has another shape. */
function sectionOf(section: unknown): LockSection | null {
  if (!isMapping(section) || !isMapping(section['rules'])) return null;
  const createdAt = section['created_at'] ?? null;
  const ids = Object.entries(section['rules']);
  if (createdAt !== null && typeof createdAt !== 'string') return null;
  if (!ids.every(([, id]) => Number.isSafeInteger(id) && Number(id) > 0)) return null;
  return { createdAt, ids: new Map(ids as [string, number][]) };
}

/** A domain of a store: the time that it was made at, to the millisecond, is the same whatever the server's address. */
interface StoredDomain {
  readonly server: string;
  readonly domain: string;
  readonly createdAt: string | null;
}

/** The sections of one domain of one store: `server` is the address that its section is under. */
interface FoundSection {
  readonly server: string;
  /** `null`: the lock has none. */
  readonly section: LockSection | null;
  /** Other addresses that have a section of the same domain of the same store. */
  readonly others: readonly string[];
}

/**
 * The section of a domain, under this address of the server or under another one of the same store. Where an earlier release
 * has written a section under several addresses, the ids of this one count before those of the others.
 */
export function findSection(
  sections: LockSections,
  { server, domain, createdAt }: StoredDomain,
): FoundSection {
  const name = serverName(server);
  const own = sections.get(name)?.get(domain) ?? null;
  const same = [...sections].flatMap(([address, domains]) => {
    const section = domains.get(domain);
    const isSame = section !== undefined && createdAt !== null && section.createdAt === createdAt;
    return isSame && address !== name ? [{ address, section }] : [];
  });
  const isOwn = own !== null && (own.createdAt === null || own.createdAt === createdAt);
  const [first] = same;
  if (first === undefined) return { server: name, section: own, others: [] };
  const ids = new Map([...same.flatMap(({ section }) => [...section.ids]), ...(isOwn ? own.ids : [])]);
  const under = isOwn ? name : first.address;
  const others = same.map(({ address }) => address).filter((address) => address !== under);
  return { server: under, section: { createdAt, ids }, others };
}

/** The text of a lock; equal content has equal text. */
export function lockText(sections: LockSections): string {
  const servers = sorted(sections, (domains) =>
    sorted(domains, ({ createdAt, ids }) => ({ created_at: createdAt, rules: sorted(ids, (id) => id) })),
  );
  return `${JSON.stringify({ format: FORMAT, servers }, null, 2)}\n`;
}

/** The entries of a map as an object in the order of their names. */
function sorted<T>(map: ReadonlyMap<string, T>, shapeOf: (value: T) => unknown): object {
  const entries = [...map].sort(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(entries.map(([name, value]) => [name, shapeOf(value)]));
}

/** Replaces a lock in one step. @throws CommandFault */
export async function writeLock(path: string, sections: LockSections): Promise<void> {
  try {
    await writeWhole(path, Buffer.from(lockText(sections)));
  } catch (error) {
    const { message } = error as Error;
    throw inputFault(message, { remedy: '--no-lock goes without it', cause: error });
  }
}

// The lock of one domain while it is applied: which rules of the server its keys mean, before the changes and after each of
// them. The file is written after every change that adds or removes an id, so that it is true whenever the command ends.

/** What a lock is about. */
export interface LockSubject {
  readonly path: string;
  /** The address of the server. */
  readonly server: string;
  readonly desired: DesiredState;
  readonly remote: RemoteDomain;
}

/** A lock in use. */
export interface RuleLock {
  /** The id of the server's rule that a rule of the file is; `null`: the lock has none that exists. */
  idOf(rule: Rule): number | null;
  /** Takes the rules that planning has paired, and writes the lock. @throws CommandFault */
  begin(plan: ChangePlan): Promise<void>;
  /** Takes a change that was made; `id` is that of a created rule. @throws CommandFault */
  done(change: PlannedChange, id: number | null): Promise<void>;
}

/** Opens the lock of a domain; notes what of it is no longer true. @throws CommandFault */
export async function openRuleLock({ path, server, desired, remote }: LockSubject): Promise<RuleLock> {
  const sections = await readLock(path);
  const { domain } = desired;
  const found = findSection(sections, { server, domain, createdAt: remote.createdAt });
  const before = found.section;
  const renewed = before !== null && before.createdAt !== null && before.createdAt !== remote.createdAt;
  if (renewed) note(`\`${path}\` is about an earlier ${desired.domain} of the server: it is not used`);
  const existing = new Set(remote.rules.map(({ type, id }) => `${type}/${id}`));
  const ids = new Map<string, number>();
  const names = new Set(desired.rules.map((rule) => nameOf(rule, desired)));
  for (const [name, id] of renewed ? [] : (before?.ids ?? [])) {
    if (existing.has(`${typeOf(name)}/${id}`)) ids.set(name, id);
    else if (names.has(name))
      note(`the server has no rule ${typeOf(name)}/${id}, which was ${name}: taken as new`);
  }
  let written = before === null ? '' : lockText(sections);

  /** Writes the lock if it differs from the file. */
  async function save(): Promise<void> {
    if (ids.size === 0 && before === null) return;
    const next = withSection(sections, found, {
      domain: desired.domain,
      section: { createdAt: remote.createdAt, ids },
    });
    const text = lockText(next);
    if (text === written) return;
    await writeLock(path, next);
    written = text;
  }

  /** Takes the id of a rule that has a key; another name of that rule is removed. */
  function take(rule: Rule, id: number): void {
    for (const [name, known] of ids) if (known === id && typeOf(name) === rule.type) ids.delete(name);
    const name = nameOf(rule, desired);
    if (name !== null) ids.set(name, id);
  }

  return {
    idOf: (rule) => ids.get(nameOf(rule, desired) ?? '') ?? null,
    async begin({ ruleIds }) {
      for (const rule of desired.rules) {
        const id = ruleIds.get(rule.id);
        if (id !== undefined) take(rule, id);
      }
      await save();
    },
    async done(change, id) {
      if (change.noun !== 'rule') return;
      if (change.verb === 'create' && id !== null) take(change.after, id);
      if (change.verb === 'delete') {
        const { type } = change.before;
        for (const [name, known] of ids)
          if (known === change.before.id && typeOf(name) === type) ids.delete(name);
      }
      await save();
    },
  };
}

/** `drop/office-only`; `null`: the rule has no key. */
function nameOf(rule: Rule, { sources }: DesiredState): string | null {
  const key = sources.rules.get(rule.id)?.key ?? null;
  return key === null ? null : `${rule.type}/${key}`;
}

/** The type in such a name; a type that this version does not have stays as it is. */
function typeOf(name: string): string {
  return RULE_TYPES.find((type) => name.startsWith(`${type}/`)) ?? name;
}

/** The sections with another one for a domain of a server, which replaces those under other addresses of its store. */
function withSection(
  sections: LockSections,
  { server, others }: FoundSection,
  { domain, section }: { readonly domain: string; readonly section: LockSection },
): LockSections {
  const next = new Map(sections).set(server, new Map(sections.get(server)).set(domain, section));
  for (const address of others) {
    const domains = new Map(next.get(address));
    domains.delete(domain);
    if (domains.size === 0) next.delete(address);
    else next.set(address, domains);
  }
  return next;
}
