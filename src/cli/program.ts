/** The commands of the command line in the groups of the help, and the program made of them. */
import { Command } from 'commander';
import { withoutCredentials } from '../base/text/credentials.ts';
import { addListed, readCommandList } from './command-list.ts';
import { version } from './version.ts';

/** The headings of the help, each with what loads the commands below it; in the order of the help. */
const COMMANDS: Readonly<Record<string, Readonly<Record<string, () => Promise<Command>>>>> = {
  'Try and write:': {
    try: async () => (await import('./commands/try.ts')).tryCommand(),
    play: async () => (await import('./commands/play.ts')).playCommand(),
    init: async () => (await import('./commands/init.ts')).initCommand(),
    simulate: async () => (await import('./commands/simulate.ts')).simulateCommand(),
    test: async () => (await import('./commands/test.ts')).testCommand(),
    prove: async () => (await import('./commands/prove.ts')).proveCommand(),
    diff: async () => (await import('./commands/diff.ts')).diffCommand(),
    replay: async () => (await import('./commands/replay.ts')).replayCommand(),
    explain: async () => (await import('./commands/explain.ts')).explainCommand(),
    lint: async () => (await import('./commands/lint.ts')).lintCommand(),
    fmt: async () => (await import('./commands/fmt.ts')).fmtCommand(),
    fields: async () => (await import('./commands/fields.ts')).fieldsCommand(),
    codes: async () => (await import('./commands/codes.ts')).codesCommand(),
    schema: async () => (await import('./commands/schema.ts')).schemaCommand(),
    compile: async () => (await import('./commands/compile.ts')).compileCommand(),
    waf: async () => (await import('./commands/waf.ts')).wafCommand(),
    gateway: async () => (await import('./commands/gateway.ts')).gatewayCommand(),
    'consumer-key': async () => (await import('./commands/consumer-key.ts')).consumerKeyCommand(),
  },
  'Run:': {
    serve: async () => (await import('./commands/serve.ts')).serveCommand(),
    node: async () => (await import('./commands/node.ts')).nodeCommand(),
    agent: async () => (await import('./commands/agent.ts')).agentCommand(),
    doctor: async () => (await import('./commands/doctor.ts')).doctorCommand(),
  },
  'Operate:': {
    account: async () => (await import('./commands/account.ts')).accountCommand(),
    key: async () => (await import('./commands/key.ts')).keyCommand(),
    domain: async () => (await import('./commands/domain.ts')).domainCommand(),
    subscription: async () => (await import('./commands/subscription.ts')).subscriptionCommand(),
    billing: async () => (await import('./commands/billing.ts')).billingCommand(),
    ticket: async () => (await import('./commands/ticket.ts')).ticketCommand(),
    'node-token': async () => (await import('./commands/node-token.ts')).nodeTokenCommand(),
    'node-group': async () => (await import('./commands/node-group.ts')).nodeGroupCommand(),
    'signing-key': async () => (await import('./commands/signing-key.ts')).signingKeyCommand(),
    'secrets-key': async () => (await import('./commands/secrets-key.ts')).secretsKeyCommand(),
    clearance: async () => (await import('./commands/clearance.ts')).clearanceCommand(),
    backup: async () => (await import('./commands/backup.ts')).backupCommand(),
    restore: async () => (await import('./commands/restore.ts')).restoreCommand(),
  },
  'Work with a server:': {
    export: async () => (await import('./commands/export.ts')).exportCommand(),
    apply: async () => (await import('./commands/apply.ts')).applyCommand(),
    draft: async () => (await import('./commands/draft.ts')).draftCommand(),
    import: async () => (await import('./commands/import.ts')).importCommand(),
    audit: async () => (await import('./commands/audit.ts')).auditCommand(),
    hits: async () => (await import('./commands/hits.ts')).hitsCommand(),
    traffic: async () => (await import('./commands/traffic.ts')).trafficCommand(),
    usage: async () => (await import('./commands/usage.ts')).usageCommand(),
    recommend: async () => (await import('./commands/recommend.ts')).recommendCommand(),
    uptime: async () => (await import('./commands/uptime.ts')).uptimeCommand(),
    ssl: async () => (await import('./commands/ssl.ts')).sslCommand(),
    cache: async () => (await import('./commands/cache.ts')).cacheCommand(),
    zones: async () => (await import('./commands/zones.ts')).zonesCommand(),
    logs: async () => (await import('./commands/logs.ts')).logsCommand(),
    notifications: async () => (await import('./commands/notifications.ts')).notificationsCommand(),
    member: async () => (await import('./commands/member.ts')).memberCommand(),
    invitation: async () => (await import('./commands/invitation.ts')).invitationCommand(),
    support: async () => (await import('./commands/support.ts')).supportCommand(),
    publish: async () => (await import('./commands/publish.ts')).publishCommand(),
    rollback: async () => (await import('./commands/rollback.ts')).rollbackCommand(),
  },
};

/** Loads the command of a name. */
const LOADERS = Object.assign({}, ...Object.values(COMMANDS)) as (typeof COMMANDS)[string];

/** The heading of `completion`, which is made of the other commands, and of `help`. */
const HELP_HEADING = 'Help:';

/** The names of all commands but `completion`. */
export const COMMAND_NAMES: readonly string[] = Object.keys(LOADERS);

/** The line of a command in a list: its summary, or its description in the style of a summary. */
function summaryOf(command: Command): string {
  const description = command.description();
  return (
    command.summary() || `${description.charAt(0).toLowerCase()}${description.slice(1).replace(/\.$/, '')}`
  );
}

/** Makes a command and its subcommands throw instead of exiting. commander does not inherit these settings. */
function finish(command: Command, above = ''): void {
  const path = `${above}${command.name()}`;
  command.exitOverride();
  command.configureHelp({ showGlobalOptions: false, subcommandDescription: summaryOf });
  // Commander repeats a value that an option refuses.
  command.configureOutput({ outputError: (text, print) => print(withoutCredentials(text)) });
  command.showHelpAfterError(`(${path} --help lists the options)`);
  for (const child of command.commands) finish(child, `${path} `);
}

/**
 * Adds the named command alone, or every command if the name is not one of them: help, completion and suggestions for
 * a misspelt name list all. The version needs none.
 *
 * PERF: each command loads its own modules; all together take half a second and 10 MB.
 */
async function addCommands(root: Command, name: string | undefined): Promise<void> {
  if (name === '--version' || name === '-V') return;
  if (name !== undefined && Object.hasOwn(LOADERS, name)) {
    root.addCommand(await LOADERS[name]!());
    return;
  }
  const { completionCommand } = await import('./commands/completion.ts');
  for (const [heading, loaders] of Object.entries(COMMANDS)) {
    const commands = await Promise.all(Object.values(loaders).map((load) => load()));
    for (const command of commands) root.addCommand(command.helpGroup(heading));
  }
  root.addCommand(completionCommand(root).helpGroup(HELP_HEADING));
  root.commandsGroup(HELP_HEADING).helpCommand(true);
}

/** The program without a command. */
function emptyProgram(): Command {
  return new Command('edgeplan')
    .description('Write edge rules as data, compile them, see exactly what any request would hit.')
    .version(version(), '-V, --version')
    .enablePositionalOptions()
    .addHelpText(
      'after',
      '\nExit codes: 0 fine, 1 the answer is no, 2 usage, 3 the input cannot be read or does not compile, 4 server, ' +
        '70 a mistake\nof edgeplan itself. Flags beat environment variables (EDGEPLAN_…), which the help of each command names.',
    );
}

/** Completes a program that has its commands. */
function finishProgram(root: Command): Command {
  finish(root);
  return root.showHelpAfterError('(edgeplan --help lists the commands)');
}

/** Builds the program with the named command, or with all. */
export async function createProgram(name: string | undefined): Promise<Command> {
  const root = emptyProgram();
  await addCommands(root, name);
  return finishProgram(root);
}

/** Builds the program for its own help: with the lines of the list, or with all commands if it has no lines. */
export async function createProgramForHelp(list = readCommandList(COMMAND_NAMES)): Promise<Command> {
  if (list === null) return createProgram(undefined);
  const root = finishProgram(emptyProgram());
  addListed(root, list);
  root.commandsGroup(HELP_HEADING).helpCommand(true);
  return root;
}

/** Whether the words ask for the help of the program, and of no command. */
export function asksForProgramHelp([first, ...others]: readonly string[]): boolean {
  return (
    first === undefined || first === '--help' || first === '-h' || (first === 'help' && others.length === 0)
  );
}

/**
 * The words to parse for those that were typed. `help a b`, `a help b` and `a b --help` are one request; when it names a
 * command that does not exist, the request for help is removed, so that commander suggests the nearest name instead of
 * printing the help of the command above with exit code 0.
 */
export function wordsFor(root: Command, typed: readonly string[]): readonly string[] {
  const path: string[] = [];
  let command = root;
  let asked = false;
  for (const word of typed) {
    if (word === '--help' || word === '-h') asked = true;
    if (word.startsWith('-') || command.commands.length === 0) break;
    if (word === 'help') {
      asked = true;
      continue;
    }
    path.push(word);
    const child = command.commands.find((one) => one.name() === word);
    if (child === undefined) return asked || asksForHelp(typed) ? path : typed;
    command = child;
  }
  return asked ? [...path, '--help'] : typed;
}

function asksForHelp(words: readonly string[]): boolean {
  return words.includes('--help') || words.includes('-h');
}
