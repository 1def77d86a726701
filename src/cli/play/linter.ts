/** Lints texts in a thread of their own, so that proofs over many rules delay no answer of the page. A newer text ends the thread. */
import { Worker } from 'node:worker_threads';
import type { EdgeInput } from '../../edge/middleware/node/edge-input.ts';
import type { FindingDocument } from '../../page/panel/documents.ts';
import type { ChoiceFlags } from '../input/choose-signatures.ts';
import { note } from '../output.ts';
import type { LintThreadData } from './lint-thread.ts';

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
export function createLinter(
  flags: ChoiceFlags,
  report: (findings: readonly FindingDocument[]) => void,
): Linter {
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
