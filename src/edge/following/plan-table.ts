/**
 * The plan table: the names that a node serves and their plans. A plan is replaced as a whole: a request sees the old one or
 * the new one. The caller stores the sealed bytes; opened plans are cached here up to a number of octets, least recently
 * used first out, so that a node can have far more domains than are requested at a time.
 */
import { LRUCache } from 'lru-cache';
import { normalizeName } from '../../base/addresses/host.ts';
import {
  createDomains,
  type Domains,
  type Evaluator,
  type EvaluatorOptions,
  loadPlan,
} from '../../engine/evaluator/index.ts';
import type { Clearance } from '../../engine/plan/manifest.ts';
import { createPurgeIndex, NO_PURGES, type PurgeIndex, type PurgeList } from '../../engine/plan/purges.ts';
import type { PurgeMark } from './journal.ts';
import type { Lists } from './opened-lists.ts';
import type { Plans, ServedDomain } from './served-domain.ts';

/** The purges of single responses of one name. */
export interface InstalledPurges extends PurgeMark {
  /** Reads the list; called each time the plan is opened. */
  readonly read: () => PurgeList;
}

/** The plan of one name. */
export interface Installed {
  readonly revision: number;
  readonly digest: string;
  readonly purgeEpoch: number;
  /** The purges of single responses; absent or `null`: there was none. */
  readonly purges?: InstalledPurges | null;
  /** The secrets of the domain's clearance cookies; absent or `null`: the node's common ones. */
  readonly clearance?: Clearance | null;
  /** Reads the sealed plan, whose bytes were checked at installation; called each time it is opened. */
  readonly read: () => Uint8Array;
  /** The lists that the plan has by digest; absent: it names none. */
  readonly lists?: Lists;
  /** Serves the name while this plan cannot be read; absent or `null`: the name is refused then. */
  readonly previous?: Installed | null;
}

/** Receives plans. A returned promise resolves once the change is in effect. */
export interface PlanSink {
  /** Installs a plan; `refused`: the name must not be served. */
  set(name: string, entry: Installed | 'refused'): void | Promise<void>;
  /** Removes a name: its hosts belong to the longest name above it then. */
  delete(name: string): void | Promise<void>;
}

export interface PlanTable extends Plans, PlanSink {
  set(name: string, entry: Installed | 'refused'): void;
  delete(name: string): void;
  /**
   * Opens a plan without serving it; the returned function installs it, and does not open it again if the name is open.
   * @throws the error of opening it
   */
  prepare(name: string, entry: Installed): () => void;
  /** `Installed.clearance` of a domain. */
  clearanceOf(name: string): Clearance | null;
  /** The purges of a name; `null`: it is not served. Opens no plan: of a closed one `purges` reads the list. */
  purgesOf(name: string): Pick<ServedDomain, 'name' | 'purgeEpoch' | 'purges'> | null;
  /** All names with their plans. */
  entries(): IterableIterator<readonly [string, Installed | 'refused']>;
  /** Number of plans that are open in memory. */
  readonly opened: number;
}

export interface PlanTableOptions {
  /** Options of a domain's evaluator: counters, signatures, states of origins. */
  readonly evaluatorOptions: (domain: string) => EvaluatorOptions;
  /** Called when a domain's plan was opened or replaced; `null`: it was closed. */
  readonly onChange: (name: string, domain: ServedDomain | null) => void;
  /** Called when an installed plan cannot be opened: its file is damaged. `Installed.previous` serves the name then. */
  readonly onFault: (name: string, error: unknown) => void;
  /** Most octets of opened plans, and of the lists that they name. */
  readonly openOctets: number;
}

interface Loaded {
  readonly domain: ServedDomain;
  /** Octets, for the limit of opened plans. */
  readonly size: number;
  readonly lists: readonly OpenList[];
}

/** A list of an opened plan, by digest. */
interface OpenList {
  readonly digest: string;
  readonly octets: number;
}

/** Octets an opened plan takes beyond its bytes: views, scratch, decoded texts. Measured: 6 to 10 KB. */
const OPEN_OVERHEAD = 8 * 1024;

interface TableState extends PlanTableOptions {
  readonly installed: Map<string, Installed | 'refused'>;
  readonly open: LRUCache<string, ServedDomain>;
  /** From hosts to the names of `installed`. */
  readonly names: Domains<string>;
  /** The lists of opened plans; a plan without lists is not in it. */
  readonly listsOf: WeakMap<ServedDomain, readonly OpenList[]>;
  readonly listCount: ListCount;
}

export function createPlanTable(options: PlanTableOptions): PlanTable {
  const installed = new Map<string, Installed | 'refused'>();
  const open = new LRUCache<string, ServedDomain>({
    maxSize: options.openOctets,
    dispose: (domain, name, reason) => {
      for (const list of table.listsOf.get(domain) ?? []) table.listCount.remove(list);
      if (reason === 'evict') options.onChange(name, null);
    },
  });
  const names = createDomains<string>();
  const table: TableState = {
    ...options,
    ...{ installed, open, names, listsOf: new WeakMap(), listCount: createListCount() },
  };
  return {
    get size() {
      return installed.size;
    },
    get opened() {
      return open.size;
    },
    find(host) {
      const name = names.find(host);
      if (name === null) return null;
      const entry = installed.get(name)!;
      return entry === 'refused' ? 'refused' : openedPlan(table, name, entry);
    },
    owner: (host) => names.find(host),
    hosts: (most) => servedHosts(table, most),
    set: (name, entry) => setEntry(table, canonicalName(name), entry),
    prepare: (name, entry) => prepareEntry(table, canonicalName(name), entry),
    delete(name) {
      const canonical = canonicalName(name);
      installed.delete(canonical);
      names.delete(canonical);
      if (open.delete(canonical)) options.onChange(canonical, null);
    },
    clearanceOf(name) {
      const entry = installed.get(name);
      return entry === undefined || entry === 'refused' ? null : (entry.clearance ?? null);
    },
    purgesOf: (name) => purgesOf(table, name),
    entries: () => installed.entries(),
  };
}

function purgesOf({ open, installed }: TableState, name: string): ReturnType<PlanTable['purgesOf']> {
  const served = open.peek(name);
  if (served !== undefined) return served;
  const entry = installed.get(name);
  if (entry === undefined || entry === 'refused') return null;
  let index: PurgeIndex | null = null;
  return {
    name,
    purgeEpoch: entry.purgeEpoch,
    // PERF: most callers ask for the epoch alone, and the list is a file.
    get purges() {
      index ??= indexOf(entry);
      return index;
    },
  };
}

/** Opens a plan. @throws what its `read` throws, or PlanFault */
function loadEntry(table: TableState, name: string, entry: Installed): Loaded {
  const bytes = entry.read();
  const used: OpenList[] = [];
  const evaluator: Evaluator = loadPlan(bytes, {
    ...table.evaluatorOptions(name),
    trusted: true,
    lists(digest) {
      if (entry.lists === undefined) return null;
      const list = entry.lists.get(digest);
      used.push({ digest, octets: list.octets });
      return list;
    },
  });
  const { revision, digest, purgeEpoch } = entry;
  const purges = indexOf(entry);
  const domain = { name, evaluator, settings: evaluator.settings(), revision, digest, purgeEpoch, purges };
  return { domain, size: bytes.byteLength + OPEN_OVERHEAD, lists: used };
}

function indexOf({ purges = null }: Installed): PurgeIndex {
  return purges === null ? NO_PURGES : createPurgeIndex(purges.read());
}

function addOpened(table: TableState, name: string, loaded: Loaded): ServedDomain {
  const { domain, size } = loaded;
  table.open.set(name, domain, { size });
  countLists(table, name, loaded);
  table.onChange(name, domain);
  return domain;
}

/** Counts the lists of a plan that was opened, and closes others, the least recently used first, until all fit. */
function countLists(
  { open, listsOf, listCount, openOctets }: TableState,
  name: string,
  { domain, lists }: Omit<Loaded, 'size'>,
): void {
  // A plan that is larger than the limit is not stored.
  if (lists.length === 0 || open.peek(name) !== domain) return;
  listsOf.set(domain, lists);
  for (const list of lists) listCount.add(list);
  while (open.size > 1 && open.calculatedSize + listCount.octets > openOctets) open.pop();
}

/** The octets of lists that open plans name, each list once. */
interface ListCount {
  readonly octets: number;
  add(list: OpenList): void;
  remove(list: OpenList): void;
}

function createListCount(): ListCount {
  /** Open plans by the digest of a list that they name. */
  const plans = new Map<string, number>();
  let octets = 0;
  return {
    get octets() {
      return octets;
    },
    add(list) {
      const before = plans.get(list.digest) ?? 0;
      plans.set(list.digest, before + 1);
      if (before === 0) octets += list.octets;
    },
    remove(list) {
      const left = plans.get(list.digest)! - 1;
      if (left > 0) return void plans.set(list.digest, left);
      plans.delete(list.digest);
      octets -= list.octets;
    },
  };
}

/** The opened plan of a name; opens it, or the plan before if it cannot be read. PERF: once a request. */
function openedPlan(table: TableState, name: string, entry: Installed): ServedDomain | 'refused' {
  const known = table.open.get(name);
  if (known !== undefined) return known;
  try {
    return addOpened(table, name, loadEntry(table, name, entry));
  } catch (error) {
    table.onFault(name, error);
    const { previous = null } = entry;
    return previous === null ? 'refused' : openedPlan(table, name, previous);
  }
}

/** `Plans.hosts`. */
function servedHosts(table: TableState, most: number): readonly string[] {
  const hosts: string[] = [];
  let names = 0;
  for (const [name, entry] of table.installed) {
    // A name may serve no host: no more names than hosts are opened.
    if (names === most || hosts.length === most) break;
    names++;
    const domain = entry === 'refused' ? entry : openedPlan(table, name, entry);
    if (domain !== 'refused') hosts.push(...domain.evaluator.hosts(most - hosts.length));
  }
  return hosts;
}

/** Whether exactly this plan is open for a name, so that other changes of the entry need no opening. */
function isOpen(table: TableState, name: string, entry: Installed): boolean {
  const served = table.open.peek(name);
  const same = served?.revision === entry.revision && served.digest === entry.digest;
  return same && served.purgeEpoch === entry.purgeEpoch;
}

/** Replaces the entry of a name. @returns whether the old one was open */
function replaceEntry(table: TableState, name: string, entry: Installed | 'refused'): boolean {
  table.installed.set(name, entry);
  table.names.set(name, name);
  return table.open.delete(name);
}

function setEntry(table: TableState, name: string, entry: Installed | 'refused'): void {
  if (entry !== 'refused' && isOpen(table, name, entry)) {
    table.installed.set(name, entry);
    applyPurges(table, name, entry);
    return;
  }
  if (!replaceEntry(table, name, entry)) return;
  if (entry === 'refused') table.onChange(name, null);
  else openedPlan(table, name, entry);
}

/** PERF: purges of single responses leave the plan open. */
function applyPurges(table: TableState, name: string, entry: Installed): void {
  const { open, listsOf } = table;
  const served = open.peek(name)!;
  if (served.purges.through === (entry.purges?.through ?? 0)) return;
  const size = open.info(name)?.size ?? OPEN_OVERHEAD;
  const domain = { ...served, purges: indexOf(entry) };
  open.set(name, domain, { size });
  countLists(table, name, { domain, lists: listsOf.get(served) ?? [] });
}

function prepareEntry(table: TableState, name: string, entry: Installed): () => void {
  if (isOpen(table, name, entry)) return () => setEntry(table, name, entry);
  const before = table.open.peek(name);
  const loaded = loadEntry(table, name, entry);
  // A name without requests stays closed; its load may have started health checks of its origins, which end here.
  if (before === undefined) table.onChange(name, null);
  return () => {
    // Opened or closed meanwhile, the name has other states of origins than those it was loaded with.
    if (before === undefined || table.open.peek(name) !== before) return setEntry(table, name, entry);
    replaceEntry(table, name, entry);
    addOpened(table, name, loaded);
  };
}

/** @throws Error when no host can belong to the name */
function canonicalName(name: string): string {
  const canonical = normalizeName(name);
  if (canonical === null) throw new Error(`\`${name}\` is not a name that can own hosts`);
  return canonical;
}
