/**
 * Compiles an edge file, its parts included, now and after each change, and gives what it finds to the account of `edgeplan play`. A file
 * with mistakes leaves the last plan in place. Lint runs in a thread of its own; a newer text ends it.
 */
import { Worker } from 'node:worker_threads';
import { watchFile } from '../../base/platform/watched-file.ts';
import { digestOfInput, type EdgeInput } from '../../edge/middleware/node/edge-input.ts';
import type { FindingDocument } from '../../page/panel/documents.ts';
import type { PlayedFile } from '../../page/panel/play-server.ts';
import { CommandFault, DiagnosedFault } from '../exit.ts';
import { compiledSubject, compileInput, readEdge } from '../input/open-subject.ts';
import { type ChoiceFlags, sealedSignaturesFor } from '../open-signatures.ts';
import { note, noteFault } from '../output.ts';
import { findingDocument } from '../print/diagnostics.ts';
import type { LintThreadData } from './lint-thread.ts';

/** What is followed. */
interface FollowedFlags extends ChoiceFlags {
  readonly file: string;
}

/** Milliseconds between polls of the parts, whose folder the system need not report. */
const POLL_MS = 500;

/**
 * Compiles the file and follows it.
 * @throws CommandFault when the file cannot be read at first; one that does not compile is followed until it does
 */
export async function followPlayedFile(played: PlayedFile, flags: FollowedFlags): Promise<{ stop(): void }> {
  const linter = createLinter(flags, (findings) => played.linted(findings));
  /** Compiles one text. */
  async function take(input: EdgeInput): Promise<void> {
    linter.cancel();
    try {
      const compiled = compileInput(input, flags.color);
      const sealed = await sealedSignaturesFor(compiled.bytes, flags);
      played.compiled(compiledSubject(compiled), sealed);
      linter.lint(input);
    } catch (error) {
      refuse(error);
    }
  }

  /** Reports a text that has no plan. */
  function refuse(error: unknown): void {
    if (error instanceof DiagnosedFault) {
      played.refused(
        error.diagnostics
          .filter(({ severity }) => severity === 'error')
          .map((one) => findingDocument(one, null)),
      );
      noteFault(error);
      return;
    }
    const message = error instanceof Error ? error.message : String(error);
    const remedy = error instanceof CommandFault ? (error.remedy ?? null) : null;
    const nowhere = { path: '', found: null, at: null, rule: null };
    played.refused([{ severity: 'error', code: 'unreadable_file', message, remedy, ...nowhere }]);
    if (error instanceof CommandFault) noteFault(error);
    else note(`edgeplan: this is a bug in edgeplan: ${message}`);
  }

  const { file } = flags;
  const watched = await watchFile({
    file,
    read: () => readEdge(file),
    digestOf: digestOfInput,
    take,
    onRefused: refuse,
    pollMs: POLL_MS,
  });
  return {
    stop() {
      watched.stop();
      linter.cancel();
    },
  };
}

// Lints texts in a thread of their own, so that proofs over many rules delay no answer of the page. A newer text ends the thread.

/** A linter with at most one running thread. */
export interface Linter {
  /** Starts to lint a text. */
  lint(input: EdgeInput): void;
  /** Ends the thread; its findings are not reported. */
  cancel(): void;
}

/** MiB of the thread's heap: the proofs have a budget of memory far below. */
const LINT_HEAP_MB = 512;

/** Creates the linter. @param report is called with the findings of a text unless a newer one came first */
function createLinter(flags: ChoiceFlags, report: (findings: readonly FindingDocument[]) => void): Linter {
  let running: Worker | null = null;
  const cancel = (): void => {
    void running?.terminate();
    running = null;
  };
  return {
    cancel,
    lint(input) {
      cancel();
      const { color, signatures, crs, without } = flags;
      const chosen = {
        color,
        ...(signatures === undefined ? {} : { signatures }),
        ...(crs === undefined ? {} : { crs }),
        ...(without === undefined ? {} : { without }),
      };
      const thread = new Worker(new URL('./lint-thread.js', import.meta.url), {
        execArgv: [],
        name: 'edgeplan-lint',
        workerData: { input, flags: chosen } satisfies LintThreadData,
        resourceLimits: { maxOldGenerationSizeMb: LINT_HEAP_MB },
      });
      running = thread;
      thread.on('message', (findings: readonly FindingDocument[]) => {
        if (running === thread) report(findings);
      });
      thread.on('error', (error) => {
        if (running === thread) note(`edgeplan: the file was not linted: ${error.message}`);
      });
    },
  };
}
