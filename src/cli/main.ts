#!/usr/bin/env node
/** The command line: which commands there are, and how each ends. */
import { readFileSync } from 'node:fs';
import { Command, CommanderError } from 'commander';
import { accountCommand } from './commands/account.ts';
import { applyCommand } from './commands/apply.ts';
import { auditCommand } from './commands/audit.ts';
import { backupCommand } from './commands/backup.ts';
import { clearanceCommand } from './commands/clearance.ts';
import { compileCommand } from './commands/compile.ts';
import { completionCommand } from './commands/completion.ts';
import { diffCommand } from './commands/diff.ts';
import { domainCommand } from './commands/domain.ts';
import { explainCommand } from './commands/explain.ts';
import { exportCommand } from './commands/export.ts';
import { importCommand } from './commands/import.ts';
import { initCommand } from './commands/init.ts';
import { keyCommand } from './commands/key.ts';
import { lintCommand } from './commands/lint.ts';
import { nodeCommand } from './commands/node.ts';
import { nodeGroupCommand } from './commands/node-group.ts';
import { nodeTokenCommand } from './commands/node-token.ts';
import { publishCommand } from './commands/publish.ts';
import { replayCommand } from './commands/replay.ts';
import { restoreCommand } from './commands/restore.ts';
import { rollbackCommand } from './commands/rollback.ts';
import { serveCommand } from './commands/serve.ts';
import { signingKeyCommand } from './commands/signing-key.ts';
import { simulateCommand } from './commands/simulate.ts';
import { subscriptionCommand } from './commands/subscription.ts';
import { testCommand } from './commands/test.ts';
import { tryCommand } from './commands/try.ts';
import { wafCommand } from './commands/waf.ts';
import { CommandFault, EXIT } from './exit.ts';
import { note, noteFault, watchOutput } from './output.ts';

/** EX_SOFTWARE of sysexits.h: a mistake of ours, apart from every answer a command can give. */
const BROKEN = 70;

function version(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}

/** What a list of commands says of one: the summary, or the description written as summaries are. */
function summaryOf(command: Command): string {
  const description = command.description();
  return (
    command.summary() || `${description.charAt(0).toLowerCase()}${description.slice(1).replace(/\.$/, '')}`
  );
}

/** Commands inherit neither from the program, so each is told. */
function throwInsteadOfExit(command: Command, above = ''): void {
  const path = `${above}${command.name()}`;
  command.exitOverride();
  command.configureHelp({ showGlobalOptions: false, subcommandDescription: summaryOf });
  command.showHelpAfterError(`(${path} --help lists the options)`);
  for (const child of command.commands) throwInsteadOfExit(child, `${path} `);
}

function program(): Command {
  const root = new Command('edgeplan')
    .description('Write edge rules as data, compile them, see exactly what any request would hit.')
    .version(version(), '-V, --version')
    .enablePositionalOptions()
    .addCommand(tryCommand())
    .addCommand(initCommand())
    .addCommand(simulateCommand())
    .addCommand(testCommand())
    .addCommand(diffCommand())
    .addCommand(replayCommand())
    .addCommand(explainCommand())
    .addCommand(lintCommand())
    .addCommand(compileCommand())
    .addCommand(wafCommand())
    .addCommand(serveCommand())
    .addCommand(nodeCommand())
    .addCommand(accountCommand())
    .addCommand(keyCommand())
    .addCommand(domainCommand())
    .addCommand(subscriptionCommand())
    .addCommand(nodeTokenCommand())
    .addCommand(nodeGroupCommand())
    .addCommand(signingKeyCommand())
    .addCommand(clearanceCommand())
    .addCommand(backupCommand())
    .addCommand(restoreCommand())
    .addCommand(exportCommand())
    .addCommand(applyCommand())
    .addCommand(importCommand())
    .addCommand(auditCommand())
    .addCommand(publishCommand())
    .addCommand(rollbackCommand())
    .addHelpText(
      'after',
      '\nExit codes: 0 fine, 1 the answer is no, 2 usage, 3 the input cannot be read or does not compile, 4 server, ' +
        '70 a mistake\nof edgeplan itself. Flags beat environment variables (EDGEPLAN_…), which the help of each command names.',
    );
  root.addCommand(completionCommand(root));
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
