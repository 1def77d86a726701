/**
 * Host → domain, for a process that serves many: the longest registered name that the host equals or lies below
 * (semantics §2). A look-up is one hash per label the host could share with a registered name, however many names
 * there are.
 */
import { type HostFacts, normalizeName, parseHost } from '../../base/addresses/host.ts';
import { assert } from '../../base/diagnostics/assert.ts';
import type { Evaluator } from './evaluate.ts';

/**
 * The domains that a process serves, each with its evaluator or a value that leads to one. Register only domains that
 * have been `active` at least once: a name that was never verified owns no host, or any customer could take another's host
 * by registering a name below it (semantics §2).
 */
export interface Domains<T = Evaluator> {
  /** Names registered. */
  readonly size: number;
  /** Registers a domain's name, in any spelling a host may have, or replaces its value. */
  set(name: string, served: T): void;
  /** Removes a name; its hosts then belong to the longest name above it. False: it was not registered. */
  delete(name: string): boolean;
  /** The values, in the order of their registration. */
  values(): IterableIterator<T>;
  /**
   * The value of the domain that owns a Host value as sent (any case, with a port, with a trailing dot). `null`: no domain
   * does, or it is not a valid host. Never throws.
   */
  find(host: string): T | null;
}

/** An empty set of domains. */
export function createDomains<T = Evaluator>(): Domains<T> {
  const domains = new Map<string, T>();
  const facts: HostFacts = { host: '', port: -1, literal: false };
  /** Labels of the longest name ever registered; no name has a suffix with more labels. */
  let deepest = 0;

  function owner(host: string): T | null {
    for (let at = lastLabels(host, deepest); at < host.length; ) {
      const found = domains.get(at === 0 ? host : host.slice(at));
      if (found !== undefined) return found;
      const dot = host.indexOf('.', at);
      if (dot < 0) return null;
      at = dot + 1;
    }
    return null;
  }

  return {
    get size() {
      return domains.size;
    },
    set(name, served) {
      const canonical = normalizeName(name);
      assert(canonical !== null, `\`${name}\` is not a name that can own hosts`);
      domains.set(canonical, served);
      deepest = Math.max(deepest, canonical.split('.').length);
    },
    delete(name) {
      const canonical = normalizeName(name);
      return canonical !== null && domains.delete(canonical);
    },
    values: () => domains.values(),
    find(host) {
      // PERF: a registered name is canonical, so a host that equals one need not be parsed and has no longer owner.
      const itself = domains.get(host);
      if (itself !== undefined) return itself;
      if (typeof host !== 'string' || !parseHost(host, facts) || facts.literal) return null;
      return owner(facts.host);
    },
  };
}

/** Where the last `count` labels of a name start; 0 when it has no more than that. */
function lastLabels(name: string, count: number): number {
  let at = name.length;
  for (let label = 0; label < count && at >= 0; label++) at = name.lastIndexOf('.', at - 1);
  return at + 1;
}
