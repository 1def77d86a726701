#!/usr/bin/env node
/** The entry point of the command line: runs one command, and sets the exit code. */
import { CommanderError } from 'commander';
import { withoutCredentials } from '../base/text/credentials.ts';
import { reportStartFault } from '../edge/handover/successor.ts';
import { CommandFault, EXIT } from './exit.ts';
import { note, noteFault, watchOutput } from './output.ts';
import { asksForProgramHelp, createProgram, createProgramForHelp, wordsFor } from './program.ts';

/** Exit code of a bug in edgeplan: EX_SOFTWARE of sysexits.h, which no command uses. */
const BROKEN = 70;

/** Prints an error and sets the exit code. A process that was to take over from another one reports it there too. */
async function fail(error: unknown): Promise<void> {
  printFault(error);
  await reportStartFault(error instanceof Error ? withoutCredentials(error.message) : String(error));
}

function printFault(error: unknown): void {
  if (error instanceof CommandFault) {
    noteFault(error);
    process.exitCode = error.exitCode;
  } else if (error instanceof CommanderError) {
    // Help and version end with 0. commander has printed every other error, and all are about the command line.
    process.exitCode = error.exitCode === 0 ? EXIT.fine : EXIT.usage;
  } else {
    const reason = error instanceof Error ? error.message : String(error);
    note(`edgeplan: this is a bug in edgeplan: ${withoutCredentials(reason)}`);
    // A stack trace is printed on demand only.
    note('  please report it; EDGEPLAN_DEBUG=1 shows where it happened');
    if ((process.env['EDGEPLAN_DEBUG'] ?? '') !== '' && error instanceof Error)
      note(withoutCredentials(error.stack ?? ''));
    process.exitCode = BROKEN;
  }
}

watchOutput();
try {
  const words = process.argv.slice(2);
  const root = await (asksForProgramHelp(words) ? createProgramForHelp() : createProgram(words[0]));
  // Without a command the help goes to stderr, and the exit code is 2.
  if (words.length === 0) {
    root.outputHelp({ error: true });
    process.exitCode = EXIT.usage;
  } else {
    await root.parseAsync(wordsFor(root, words), { from: 'user' });
  }
} catch (error) {
  await fail(error);
}
