/**
 * Serves an edge file and follows its changes: compiles, seals, self-tests and installs it. A file that is broken,
 * incomplete or deleted is reported, and the last good plan stays installed.
 */
import type { Diagnostic } from '../base/diagnostics/diagnostic.ts';
import { sha256Hex } from '../base/platform/cryptography.ts';
import { type WatchedFile, watchFile } from '../base/platform/watched-file.ts';
import { mayServe } from '../control/publishing/make-plan.ts';
import { reseal } from '../control/publishing/revisions.ts';
import { PlanRefusal } from '../edge/following/fetch-plan.ts';
import type { PlanSink } from '../edge/following/plan-table.ts';
import { digestOfInput, type EdgeInput } from '../edge/middleware/node/edge-input.ts';
import { selfTest } from '../engine/evaluator/self-test.ts';
import { absoluteName } from '../rules/model/record-name.ts';
import type { RuleSet } from '../rules/model/types.ts';
import { CommandFault, inputFault } from './exit.ts';
import { compileInput, readEdge, refuseApplicationRecords } from './input/open-subject.ts';
import type { ColourChoice } from './output.ts';

/** Options of `serveEdgeFile`. */
export interface WatchOptions {
  readonly file: string;
  readonly colour: ColourChoice;
  /** Where plans are installed. */
  readonly plans: PlanSink;
  /** Called after each installed plan. */
  readonly onInstalled: (installed: InstalledFile) => void;
  /** Called when a changed file was not installed; its diagnostics are printed already. */
  readonly onRefused: (fault: CommandFault) => void;
  /** Milliseconds between polls, for changes without a notification of the system; 2,000 by default. */
  readonly pollMs?: number;
}

/** A plan that was installed. */
export interface InstalledFile {
  readonly domain: string;
  /** `false`: the domain is suspended or not active, so requests to its hosts are refused. */
  readonly serves: boolean;
  /** Hosts that proxied records serve, in the order of the file; `*.` before a name: all below it. */
  readonly hosts: readonly string[];
  /** 1 for the first installed plan, then rising. */
  readonly revision: number;
  /** SHA-256 of the plan in hexadecimal. */
  readonly digest: string;
  /** Warnings and notes. */
  readonly diagnostics: readonly Diagnostic[];
  /** For printing diagnostics with their lines. */
  readonly texts: ReadonlyMap<string, string>;
}

export type Watching = WatchedFile;

/**
 * Installs the file and starts watching it.
 * @throws CommandFault when the file cannot be served now; its diagnostics are on stderr
 */
export async function serveEdgeFile(options: WatchOptions): Promise<Watching> {
  const { file, plans } = options;
  let domain: string | null = null;
  let revision = 0;

  async function install(input: EdgeInput): Promise<void> {
    const compiled = compileInput(input, options.colour);
    refuseApplicationRecords(compiled, 'a node forwards requests to one');
    const { name } = compiled.ruleSet.domain;
    const next = revision + 1;
    const bytes = reseal(compiled.bytes, next);
    const wrong = selfTest(bytes, { domain: name, revision: next });
    if (wrong !== null) throw inputFault(`\`${file}\` compiles to a plan that cannot serve: ${wrong}`);
    const digest = sha256Hex(bytes);
    const serves = mayServe(compiled.ruleSet.domain);
    // As with a control plane, a domain that must not be served is refused in the TLS handshake already.
    const entry = serves
      ? ({ revision: next, digest, purgeEpoch: 0, read: () => bytes } as const)
      : 'refused';
    await plans.set(name, entry);
    revision = next;
    if (domain !== null && domain !== name) await plans.delete(domain);
    domain = name;
    const { diagnostics, texts } = compiled;
    const hosts = serves ? hostsOf(compiled.ruleSet) : [];
    options.onInstalled({ domain, serves, hosts, revision, digest, diagnostics, texts });
  }

  return watchFile({
    file,
    read: () => readEdge(file),
    digestOf: digestOfInput,
    take: install,
    onRefused: (error) => options.onRefused(asFault(error, file)),
    mayPass,
    pollMs: options.pollMs,
  });
}

/** The names of proxied records, each once. */
function hostsOf({ domain, records }: RuleSet): readonly string[] {
  const names = records
    .filter(({ proxied }) => proxied)
    .map(({ name }) => absoluteName(name, domain.name))
    .filter((name) => name !== null);
  return [...new Set(names)];
}

/** Whether the error is temporary, such as a worker that is stuck, and not caused by the file. */
function mayPass(error: unknown): boolean {
  return error instanceof PlanRefusal && !error.final;
}

/** The fault to report. A bug in the compiler must not stop serving either, so it becomes a fault as well. */
function asFault(error: unknown, file: string): CommandFault {
  if (error instanceof CommandFault) return error;
  if (error instanceof PlanRefusal) {
    const again = mayPass(error) ? '; it is tried again' : '';
    return inputFault(`\`${file}\` cannot be served: ${error.message}${again}`, { cause: error });
  }
  const reason = error instanceof Error ? error.message : String(error);
  return inputFault(`\`${file}\` cannot be compiled: ${reason}`, { cause: error });
}
