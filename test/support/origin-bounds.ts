/** Where the origins of tests are, as nodes and servers accept them. */
import type { OriginBounds } from '../../src/edge/proxy/origin/guard.ts';

/**
 * Addresses that the servers of tests accept as origins: this machine, private networks, and those of documentation,
 * which tests write where nobody connects.
 */
export const TEST_ORIGINS: readonly string[] = [
  '127.0.0.0/8',
  '10.0.0.0/8',
  '172.16.0.0/12',
  '192.168.0.0/16',
  '192.0.2.0/24',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '::1',
  '2001:db8::/32',
];

/** The same, as `edgeplan serve` takes them. */
export const ALLOW_ORIGINS: readonly string[] = ['--allow-origins', TEST_ORIGINS.join(',')];

/** On this machine, as an edge file run by hand has it. */
export const LOCAL_ORIGINS: OriginBounds = {
  allowed: { prefixes: [], local: true },
  ownPorts: new Set(),
  onRefused: () => undefined,
};
