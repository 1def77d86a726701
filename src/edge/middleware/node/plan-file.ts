/** Follows the `file` option: an edge file, compiled whenever it changes, or a sealed plan. */
import { readFile, stat } from 'node:fs/promises';
import { formatDiagnostic } from '../../../base/diagnostics/diagnostic.ts';
import { type WatchedFile, watchFile } from '../../../base/platform/watched-file.ts';
import { seal } from '../../../engine/plan/seal.ts';
import type { DecisionReporter } from '../../decide/verdict.ts';
import { compileEdge, digestOfInput, type EdgeInput, isPlan, readEdgeInput } from './edge-input.ts';
import type { EdgePlans } from './plans.ts';

/** Octets of an edge file or a plan: far above any rule set within its limits, far below what would exhaust memory. */
const MAX_FILE_OCTETS = 256 * 1024 * 1024;

/**
 * Installs the file's plan and follows its changes; an error of a change goes to `onFault`, and the plan before stays.
 * @throws Error when the file cannot be served as it is now, one diagnostic a line
 */
export async function watchPlanFile(
  file: string,
  { install, table }: EdgePlans,
  reporter: DecisionReporter,
): Promise<WatchedFile> {
  let domain: string | null = null;
  let revision = 0;

  async function take(input: EdgeInput): Promise<void> {
    const plan = isPlan(input.octets, file) ? input.octets : compiled(input, revision + 1);
    const installed = install(plan);
    revision = installed.revision;
    if (domain !== null && domain !== installed.domain) table.delete(domain);
    domain = installed.domain;
  }

  async function read(name: string): Promise<Uint8Array> {
    const { size } = await stat(name);
    if (size <= MAX_FILE_OCTETS) return readFile(name);
    throw new Error(`\`${name}\` has ${size} octets; at most ${MAX_FILE_OCTETS} are read`);
  }

  return watchFile({
    file,
    read: () => readEdgeInput(file, read),
    digestOf: digestOfInput,
    take,
    onRefused: (error) => reporter.fault(error, `the file \`${file}\``),
  });
}

function compiled({ octets, name, parts }: EdgeInput, revision: number): Uint8Array {
  const edge = compileEdge(octets, name, parts);
  if (edge.ok) return seal(edge.plan, { revision });
  throw new Error(`\`${name}\` does not compile:\n${edge.diagnostics.map(formatDiagnostic).join('\n')}`);
}
