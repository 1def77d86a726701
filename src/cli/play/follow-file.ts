/**
 * Compiles an edge file, its parts included, now and after each change, and gives what it finds to the account of `edgeplan play`. A file
 * with mistakes leaves the last plan in place. Lint runs in a thread of its own; a newer text ends it.
 */

import { watchFile } from '../../base/platform/watched-file.ts';
import { digestOfInput, type EdgeInput } from '../../edge/middleware/node/edge-input.ts';
import type { PlayedFile } from '../../page/panel/play-file.ts';
import { CommandFault, DiagnosedFault } from '../exit.ts';
import { type ChoiceFlags, sealedSignaturesFor } from '../input/choose-signatures.ts';
import { compiledSubject, compileInput, readEdge } from '../input/open-subject.ts';
import { note, noteFault } from '../output.ts';
import { findingDocument } from './finding-document.ts';
import { createLinter } from './linter.ts';

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
