/** Checks cores, memory and the limit of open files. */
import { readFileSync } from 'node:fs';
import { availableParallelism, totalmem } from 'node:os';
import { type Check, type CheckFinding, gibibytes } from './check.ts';

/** Octets of memory below which a server or node has little left for its work. */
const LITTLE_MEMORY = 512 * 1024 * 1024;
/** Files that are open besides connections: plans, the store, logs, cached responses. */
const OTHER_FILES = 500;

/** The limit of open files of this process; `null`: the system does not report it. */
function openFilesLimit(): number | null {
  let text: string;
  try {
    text = readFileSync('/proc/self/limits', 'utf8');
  } catch {
    // Not Linux.
    return null;
  }
  // Soft and hard limit; Node raises the soft one to the hard one when it starts.
  const limit = /^Max open files +(\S+)/m.exec(text)?.[1];
  return limit === 'unlimited' ? Number.POSITIVE_INFINITY : limit === undefined ? null : Number(limit);
}

function filesFinding(maxConnections: number): CheckFinding {
  const limit = openFilesLimit();
  if (limit === null)
    return { state: 'skipped', found: 'this system does not report its limit of open files' };
  // Each connection of a client may need one to an origin.
  const needed = 2 * maxConnections + OTHER_FILES;
  const found = `${limit} open files at most; --max-connections ${maxConnections} may need ${needed}`;
  if (limit >= needed) return { state: 'fine', found };
  const remedy = `raise the limit (ulimit -Hn, LimitNOFILE= of systemd), or lower --max-connections to ${Math.max(1, Math.floor((limit - OTHER_FILES) / 2))}`;
  return { state: 'warning', found, remedy };
}

export const machine: Check = {
  name: 'machine',
  async run({ maxConnections }) {
    // A container's limit, where there is one.
    const limit = process.constrainedMemory();
    const memory = limit > 0 && limit < totalmem() ? limit : totalmem();
    const cores = availableParallelism();
    const found = `${cores} ${cores === 1 ? 'core' : 'cores'}, ${gibibytes(memory)} of memory`;
    const enough = memory >= LITTLE_MEMORY;
    const remedy = `give it ${gibibytes(LITTLE_MEMORY)}, or start the node with --cache-memory 32`;
    const size: CheckFinding = enough ? { state: 'fine', found } : { state: 'warning', found, remedy };
    return [size, filesFinding(maxConnections)];
  },
};
