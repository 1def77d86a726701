#!/usr/bin/env node
/** The entry point of the command line: lists the commands, runs one, and sets the exit code. */
import { readFileSync } from 'node:fs';
import { Command, CommanderError } from 'commander';
import { CommandFault, EXIT } from './exit.ts';
import { note, noteFault, watchOutput } from './output.ts';

/** Exit code of a bug in edgeplan: EX_SOFTWARE of sysexits.h, which no command uses. */
const BROKEN = 70;

/** The version in `package.json`. */
function version(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}

/** The line of a command in a list: its summary, or its description in the style of a summary. */
function summaryOf(command: Command): string {
  const description = command.description();
  return (
    command.summary() || `${description.charAt(0).toLowerCase()}${description.slice(1).replace(/\.$/, '')}`
  );
}

/** Makes a command and its subcommands throw instead of exiting. commander does not inherit these settings. */
function throwInsteadOfExit(command: Command, above = ''): void {
  const path = `${above}${command.name()}`;
  command.exitOverride();
  command.configureHelp({ showGlobalOptions: false, subcommandDescription: summaryOf });
  command.showHelpAfterError(`(${path} --help lists the options)`);
  for (const child of command.commands) throwInsteadOfExit(child, `${path} `);
}

/** Loads each command; in the order of the help. */
const COMMANDS: Readonly<Record<string, () => Promise<Command>>> = {
  try: async () => (await import('./commands/try.ts')).tryCommand(),
  init: async () => (await import('./commands/init.ts')).initCommand(),
  simulate: async () => (await import('./commands/simulate.ts')).simulateCommand(),
  test: async () => (await import('./commands/test.ts')).testCommand(),
  diff: async () => (await import('./commands/diff.ts')).diffCommand(),
  replay: async () => (await import('./commands/replay.ts')).replayCommand(),
  explain: async () => (await import('./commands/explain.ts')).explainCommand(),
  lint: async () => (await import('./commands/lint.ts')).lintCommand(),
  codes: async () => (await import('./commands/codes.ts')).codesCommand(),
  schema: async () => (await import('./commands/schema.ts')).schemaCommand(),
  compile: async () => (await import('./commands/compile.ts')).compileCommand(),
  waf: async () => (await import('./commands/waf.ts')).wafCommand(),
  serve: async () => (await import('./commands/serve.ts')).serveCommand(),
  node: async () => (await import('./commands/node.ts')).nodeCommand(),
  account: async () => (await import('./commands/account.ts')).accountCommand(),
  key: async () => (await import('./commands/key.ts')).keyCommand(),
  domain: async () => (await import('./commands/domain.ts')).domainCommand(),
  subscription: async () => (await import('./commands/subscription.ts')).subscriptionCommand(),
  'node-token': async () => (await import('./commands/node-token.ts')).nodeTokenCommand(),
  'node-group': async () => (await import('./commands/node-group.ts')).nodeGroupCommand(),
  'signing-key': async () => (await import('./commands/signing-key.ts')).signingKeyCommand(),
  clearance: async () => (await import('./commands/clearance.ts')).clearanceCommand(),
  backup: async () => (await import('./commands/backup.ts')).backupCommand(),
  restore: async () => (await import('./commands/restore.ts')).restoreCommand(),
  export: async () => (await import('./commands/export.ts')).exportCommand(),
  apply: async () => (await import('./commands/apply.ts')).applyCommand(),
  import: async () => (await import('./commands/import.ts')).importCommand(),
  audit: async () => (await import('./commands/audit.ts')).auditCommand(),
  publish: async () => (await import('./commands/publish.ts')).publishCommand(),
  rollback: async () => (await import('./commands/rollback.ts')).rollbackCommand(),
};

/**
 * Adds the named command alone, or every command if the name is not one of them: help, completion and suggestions for
 * a misspelt name list all. The version needs none.
 *
 * PERF: each command loads its own modules; all together take half a second and 10 MB.
 */
async function addCommands(root: Command, name: string | undefined): Promise<void> {
  if (name === '--version' || name === '-V') return;
  if (name !== undefined && Object.hasOwn(COMMANDS, name)) {
    root.addCommand(await COMMANDS[name]!());
    return;
  }
  // The order of the record is the order of the help.
  for (const command of await Promise.all(Object.values(COMMANDS).map((load) => load())))
    root.addCommand(command);
  const { completionCommand } = await import('./commands/completion.ts');
  root.addCommand(completionCommand(root));
}

/** Builds the program with one command or all. */
async function program(name: string | undefined): Promise<Command> {
  const root = new Command('edgeplan')
    .description('Write edge rules as data, compile them, see exactly what any request would hit.')
    .version(version(), '-V, --version')
    .enablePositionalOptions()
    .addHelpText(
      'after',
      '\nExit codes: 0 fine, 1 the answer is no, 2 usage, 3 the input cannot be read or does not compile, 4 server, ' +
        '70 a mistake\nof edgeplan itself. Flags beat environment variables (EDGEPLAN_…), which the help of each command names.',
    );
  await addCommands(root, name);
  throwInsteadOfExit(root);
  root.showHelpAfterError('(edgeplan --help lists the commands)');
  return root;
}

/** Prints an error and sets the exit code. */
function fail(error: unknown): void {
  if (error instanceof CommandFault) {
    noteFault(error);
    process.exitCode = error.exitCode;
  } else if (error instanceof CommanderError) {
    // Help and version end with 0. commander has printed every other error, and all are about the command line.
    process.exitCode = error.exitCode === 0 ? EXIT.fine : EXIT.usage;
  } else {
    const reason = error instanceof Error ? error.message : String(error);
    note(`edgeplan: this is a bug in edgeplan: ${reason}`);
    // A stack trace is printed on demand only.
    note('  please report it; EDGEPLAN_DEBUG=1 shows where it happened');
    if ((process.env['EDGEPLAN_DEBUG'] ?? '') !== '' && error instanceof Error) note(error.stack ?? '');
    process.exitCode = BROKEN;
  }
}

watchOutput();
try {
  const root = await program(process.argv[2]);
  // Without a command the help goes to stderr, and the exit code is 2.
  if (process.argv.length <= 2) {
    root.outputHelp({ error: true });
    process.exitCode = EXIT.usage;
  } else {
    await root.parseAsync(process.argv);
  }
} catch (error) {
  fail(error);
}
