#!/usr/bin/env node
/** The command line: which commands there are, and how each ends. */
import { readFileSync } from 'node:fs';
import { Command, CommanderError } from 'commander';
import { compileCommand } from './commands/compile.ts';
import { initCommand } from './commands/init.ts';
import { lintCommand } from './commands/lint.ts';
import { simulateCommand } from './commands/simulate.ts';
import { testCommand } from './commands/test.ts';
import { CommandFault, EXIT } from './exit.ts';
import { note, noteFault, watchOutput } from './output.ts';

/** EX_SOFTWARE of sysexits.h: a mistake of ours, apart from every answer a command can give. */
const BROKEN = 70;

function version(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}

/** Commands inherit neither from the program, so each is told. */
function throwInsteadOfExit(command: Command): void {
  command.exitOverride();
  command.configureHelp({ showGlobalOptions: false });
  command.showHelpAfterError(`(edgeplan ${command.name()} --help lists the options)`);
  for (const child of command.commands) throwInsteadOfExit(child);
}

function program(): Command {
  const root = new Command('edgeplan')
    .description('Write edge rules as data, compile them, see exactly what any request would hit.')
    .version(version(), '-V, --version')
    .enablePositionalOptions()
    .addCommand(initCommand())
    .addCommand(simulateCommand())
    .addCommand(testCommand())
    .addCommand(lintCommand())
    .addCommand(compileCommand())
    .addHelpText(
      'after',
      '\nExit codes: 0 fine, 1 the answer is no, 2 usage, 3 the input does not compile, 4 server.\n' +
        'Flags beat EDGEPLAN_FILE, EDGEPLAN_COLOR and EDGEPLAN_NODE_ID.',
    );
  throwInsteadOfExit(root);
  root.showHelpAfterError('(edgeplan --help lists the commands)');
  return root;
}

function fail(error: unknown): void {
  if (error instanceof CommandFault) {
    noteFault(error);
    process.exitCode = error.exitCode;
  } else if (error instanceof CommanderError) {
    // Help and version end with 0; everything else commander says is about the command line, and it has said it.
    process.exitCode = error.exitCode === 0 ? EXIT.fine : EXIT.usage;
  } else {
    const said = error instanceof Error ? error.message : String(error);
    note(`edgeplan: this is a mistake of edgeplan's own: ${said}`);
    note('  please report it; EDGEPLAN_DEBUG=1 shows where it happened');
    if ((process.env['EDGEPLAN_DEBUG'] ?? '') !== '' && error instanceof Error) note(error.stack ?? '');
    process.exitCode = BROKEN;
  }
}

watchOutput();
try {
  const root = program();
  if (process.argv.length <= 2) {
    root.outputHelp({ error: true });
    process.exitCode = EXIT.usage;
  } else {
    await root.parseAsync(process.argv);
  }
} catch (error) {
  fail(error);
}
