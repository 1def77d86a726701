/**
 * The names this node serves and the plans they are served by. A plan is swapped in whole: a request sees the one or the
 * other. Sealed bytes are kept by whoever installs them; what is opened of them is kept here, the least recently used
 * leaving first, so that a node can hold far more domains than it serves at a time.
 */
import { LRUCache } from 'lru-cache';
import { normalizeName } from '../base/host.ts';
import {
  createDomains,
  type EdgeSettings,
  type Evaluator,
  type EvaluatorOptions,
  loadPlan,
} from '../evaluator/index.ts';
import type { Clearance } from '../plan/manifest.ts';

/** What is installed for one name. */
export interface Installed {
  readonly revision: number;
  readonly digest: string;
  readonly purgeEpoch: number;
  /** What the domain's clearance cookies are signed with; absent or `null`: what all domains without have in common. */
  readonly clearance?: Clearance | null;
  /** Reads the sealed plan; called whenever it is opened. Its bytes were checked when it was installed. */
  readonly read: () => Uint8Array;
  /** What serves the name while this plan cannot be read; absent or `null`: nothing, the name is refused. */
  readonly previous?: Installed | null;
}

/** Where plans are put by whoever brings them. A promise resolves once they are served, or nothing is any more. */
export interface PlanSink {
  /** Installs a plan, or the sign that the name must not serve. */
  set(name: string, entry: Installed | 'refused'): void | Promise<void>;
  /** Forgets a name: its hosts fall to the longest name above it. */
  delete(name: string): void | Promise<void>;
}

export interface PlanTable extends Plans, PlanSink {
  set(name: string, entry: Installed | 'refused'): void;
  delete(name: string): void;
  /**
   * Opens a plan and serves as before; what is returned installs it, for a name that is open without opening it again.
   * @throws what keeps it from being opened
   */
  prepare(name: string, entry: Installed): () => void;
  /** As `Installed.clearance`, of a domain by its name. */
  clearanceOf(name: string): Clearance | null;
  /** What is installed, for acks and for counting. */
  entries(): IterableIterator<readonly [string, Installed | 'refused']>;
  readonly size: number;
  /** Plans open in memory. */
  readonly opened: number;
}

export interface PlanTableOptions {
  /** What every evaluator is made with: counters, signatures, origin states by domain. */
  readonly evaluatorOptions: (domain: string) => EvaluatorOptions;
  /** Told when a domain's plan was opened or replaced (`null`: gone). */
  readonly onChange: (name: string, domain: ServedDomain | null) => void;
  /** A plan that cannot be opened any more: the disk under it failed. `Installed.previous` serves its name meanwhile. */
  readonly onFault: (name: string, error: unknown) => void;
  /** Octets of opened plans kept. */
  readonly openOctets: number;
}

interface Loaded {
  readonly domain: ServedDomain;
  readonly size: number;
}

/** Octets an opened plan takes beyond its bytes: views, scratch, decoded texts. Measured: 6 to 10 KB. */
const OPEN_OVERHEAD = 8 * 1024;

export function createPlanTable(options: PlanTableOptions): PlanTable {
  const installed = new Map<string, Installed | 'refused'>();
  const open = new LRUCache<string, ServedDomain>({
    maxSize: options.openOctets,
    dispose: (_domain, name, reason) => {
      if (reason === 'evict') options.onChange(name, null);
    },
  });
  /** From hosts to the names of `installed`. */
  const names = createDomains<string>();

  function load(name: string, entry: Installed): Loaded {
    const bytes = entry.read();
    const evaluator: Evaluator = loadPlan(bytes, { ...options.evaluatorOptions(name), trusted: true });
    const { revision, digest, purgeEpoch } = entry;
    const domain = { name, evaluator, settings: evaluator.settings(), revision, digest, purgeEpoch };
    return { domain, size: bytes.byteLength + OPEN_OVERHEAD };
  }

  function keep(name: string, { domain, size }: Loaded): ServedDomain {
    open.set(name, domain, { size });
    options.onChange(name, domain);
    return domain;
  }

  function opened(name: string, entry: Installed): ServedDomain | 'refused' {
    const known = open.get(name);
    if (known !== undefined) return known;
    try {
      return keep(name, load(name, entry));
    } catch (error) {
      options.onFault(name, error);
      const { previous = null } = entry;
      return previous === null ? 'refused' : opened(name, previous);
    }
  }

  /** Whether a name is open and served by exactly this plan: what else is said of it needs no opening. */
  function isOpen(name: string, entry: Installed): boolean {
    const served = open.peek(name);
    const same = served?.revision === entry.revision && served.digest === entry.digest;
    return same && served.purgeEpoch === entry.purgeEpoch;
  }

  /** @returns whether it was open */
  function install(name: string, entry: Installed | 'refused'): boolean {
    installed.set(name, entry);
    names.set(name, name);
    return open.delete(name);
  }

  function set(name: string, entry: Installed | 'refused'): void {
    const canonical = canonicalName(name);
    if (entry !== 'refused' && isOpen(canonical, entry)) {
      installed.set(canonical, entry);
      return;
    }
    if (!install(canonical, entry)) return;
    if (entry === 'refused') options.onChange(canonical, null);
    else opened(canonical, entry);
  }

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
      return entry === 'refused' ? 'refused' : opened(name, entry);
    },
    set,
    prepare(name, entry) {
      const canonical = canonicalName(name);
      if (isOpen(canonical, entry)) return () => set(canonical, entry);
      const before = open.peek(canonical);
      const loaded = load(canonical, entry);
      // One that is not asked for is not kept open, nor what loading it began to watch.
      if (before === undefined) options.onChange(canonical, null);
      return () => {
        // Opened or closed meanwhile, the name has other states of origins than those it was loaded with.
        if (before === undefined || open.peek(canonical) !== before) return set(canonical, entry);
        install(canonical, entry);
        keep(canonical, loaded);
      };
    },
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
    entries: () => installed.entries(),
  };
}

/** @throws Error when the name can own no host: a manifest or a file says something that cannot be */
function canonicalName(name: string): string {
  const canonical = normalizeName(name);
  if (canonical === null) throw new Error(`\`${name}\` is not a name that can own hosts`);
  return canonical;
}

/** A name the node serves, at one revision. */
export interface ServedDomain {
  readonly name: string;
  readonly evaluator: Evaluator;
  readonly settings: EdgeSettings;
  readonly revision: number;
  /** SHA-256 of the sealed plan, 64 lower-case hex digits. */
  readonly digest: string;
  /** What was cached under a lower one is stale. */
  readonly purgeEpoch: number;
}

/** The names this node serves. */
export interface Plans {
  /**
   * Who owns a Host value as sent. `refused`: a name that must not serve (a tombstone); `null`: nobody's. Opens a plan
   * at its first request.
   */
  find(host: string): ServedDomain | 'refused' | null;
}
