/** Where the nodes of tests find their origins: on this machine, as an edge file run by hand has it. */
import type { OriginBounds } from '../../src/edge/origin/guard.ts';

export const LOCAL_ORIGINS: OriginBounds = {
  allowed: { prefixes: [], local: true },
  ownPorts: new Set(),
  onRefused: () => undefined,
};
