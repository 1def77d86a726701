/**
 * Serves an edge file and follows its changes: compile, seal, try out, install. A file that is broken, half written or
 * gone changes nothing but what is printed: the last good plan goes on serving.
 */
import { createHash } from 'node:crypto';
import type { Diagnostic } from '../base/diagnostic.ts';
import { selfTest } from '../evaluator/self-test.ts';
import { type WatchedFile, watchFile } from '../platform/watched-file.ts';
import { reseal } from '../publisher/blob.ts';
import { mayServe } from '../publisher/plan-subject.ts';
import { PlanRefusal } from '../sync/fetch-plan.ts';
import type { PlanSink } from '../sync/plan-table.ts';
import { CommandFault, inputFault } from './exit.ts';
import { compileOctets, readEdgeOctets } from './input/open-subject.ts';
import type { ColourChoice } from './output.ts';

export interface WatchOptions {
  readonly file: string;
  readonly colour: ColourChoice;
  readonly plans: PlanSink;
  /** Told of each plan that was installed. */
  readonly onInstalled: (installed: InstalledFile) => void;
  /** Told why a changed file was not installed; its diagnostics are printed already. */
  readonly onRefused: (fault: CommandFault) => void;
  /** Milliseconds between looks without a hint of the system's; default 2,000. */
  readonly pollMs?: number;
}

export interface InstalledFile {
  readonly domain: string;
  /** False: the domain is suspended, or not active; its hosts are refused. */
  readonly serves: boolean;
  /** 1 for the first that was installed, rising. */
  readonly revision: number;
  readonly digest: string;
  /** Warnings and notes. */
  readonly diagnostics: readonly Diagnostic[];
  /** For printing diagnostics with their lines. */
  readonly texts: ReadonlyMap<string, string>;
}

export type Watching = WatchedFile;

/**
 * Installs the file and begins to watch it.
 * @throws CommandFault when the file cannot be served as it is now; its diagnostics are on stderr
 */
export async function serveEdgeFile(options: WatchOptions): Promise<Watching> {
  const { file, plans } = options;
  let domain: string | null = null;
  let revision = 0;

  async function install(octets: Uint8Array): Promise<void> {
    const compiled = compileOctets(octets, file, options.colour);
    const { name } = compiled.ruleSet.domain;
    const next = revision + 1;
    const bytes = reseal(compiled.bytes, next);
    const wrong = selfTest(bytes, { domain: name, revision: next });
    if (wrong !== null) throw inputFault(`\`${file}\` compiles to a plan that cannot serve: ${wrong}`);
    const digest = createHash('sha256').update(bytes).digest('hex');
    const serves = mayServe(compiled.ruleSet.domain);
    // As under a control plane: what must not serve is refused before a request, in the handshake already.
    const entry = serves
      ? ({ revision: next, digest, purgeEpoch: 0, read: () => bytes } as const)
      : 'refused';
    await plans.set(name, entry);
    revision = next;
    if (domain !== null && domain !== name) await plans.delete(domain);
    domain = name;
    const { diagnostics, texts } = compiled;
    options.onInstalled({ domain, serves, revision, digest, diagnostics, texts });
  }

  return watchFile({
    file,
    read: () => readEdgeOctets(file),
    take: install,
    onRefused: (error) => options.onRefused(asFault(error, file)),
    mayPass,
    pollMs: options.pollMs,
  });
}

/** A worker that is stuck, or short of something: no fault of the file. */
function mayPass(error: unknown): boolean {
  return error instanceof PlanRefusal && !error.final;
}

/** A bug of ours in the compiler is no reason to stop serving either. */
function asFault(error: unknown, file: string): CommandFault {
  if (error instanceof CommandFault) return error;
  if (error instanceof PlanRefusal) {
    const again = mayPass(error) ? '; it is tried again' : '';
    return inputFault(`\`${file}\` cannot be served: ${error.message}${again}`, { cause: error });
  }
  const said = error instanceof Error ? error.message : String(error);
  return inputFault(`\`${file}\` cannot be compiled: ${said}`, { cause: error });
}
