/** `edgeplan export`: writes a domain of a server as an edge file. */
import { Command } from 'commander';
import { printEdge } from '../../rules/files/print-edge.ts';
import { findSection, lockPath, readLock } from '../apply/lock-file.ts';
import { type Examples, withExamples } from '../examples.ts';
import { note, write } from '../output.ts';
import { keyOption, type ServerAccess, serverOption } from '../remote/call-api.ts';
import { type RemoteDomain, readRemote } from '../remote/remote-domain.ts';
import { writeWhole } from '../write-file.ts';

/** The options of the command, as commander parses them. */
interface Flags extends ServerAccess {
  /** Writes the server's ids and state. */
  readonly ids?: boolean;
  /** Writes to this file instead of stdout. */
  readonly output?: string;
}

/** Reads the domain and writes the file. */
async function run(domain: string, flags: Flags): Promise<void> {
  const remote = await readRemote(domain, flags);
  const { records, rules } = remote;
  const ids = flags.ids === true;
  const ruleKeys = flags.output === undefined ? new Map() : await lockedKeys(flags.output, remote, flags);
  const domainPart = domainFields(remote, ids);
  const { text, orphans, untagged } = printEdge({ domain: domainPart, records, rules, ids, ruleKeys });
  for (const { type, id } of orphans)
    note(
      `edgeplan: the records of rule ${type}/${id} were deleted; the file has the rule for all records, disabled`,
    );
  for (const { type, id } of untagged)
    note(
      `edgeplan: the rules whose tags rule ${type}/${id} needs were deleted; the file has the rule without them, disabled`,
    );
  if (flags.output === undefined) return write(text);
  await writeWhole(flags.output, Buffer.from(text));
}

/** The keys that the lock beside the file has for rules of the domain. @throws CommandFault when it is no lock */
async function lockedKeys(
  output: string,
  { name, createdAt }: RemoteDomain,
  { server }: Flags,
): Promise<ReadonlyMap<string, string>> {
  const path = lockPath(output);
  if (path === null) return new Map();
  const { section } = findSection(await readLock(path), { server, domain: name, createdAt });
  if (section === null || (section.createdAt !== null && section.createdAt !== createdAt)) return new Map();
  return new Map(
    [...section.ids].map(([named, id]) => {
      const [type = '', key = ''] = named.split(/\/(.*)/s);
      return [`${type}/${id}`, key];
    }),
  );
}

/**
 * The fields of `domain`. The state of the server (status, suspension) is written only when the exact plan is
 * exported.
 */
function domainFields({ name, settings, state }: RemoteDomain, exact: boolean): { readonly name: string } {
  const { status, suspended, developer_mode_until } = state;
  if (!exact) return { name, ...settings };
  return {
    name,
    ...(status === 'active' ? {} : { status }),
    ...(suspended ? { suspended } : {}),
    ...(developer_mode_until === null ? {} : { developer_mode_until }),
    ...settings,
  };
}

/** Examples of the help. */
const EXAMPLES: Examples = {
  export: [
    'edgeplan export example.com -o edge.yaml',
    'edgeplan export example.com --ids | edgeplan simulate -f - https://example.com/',
  ],
};

/** Creates the command. */
export function exportCommand(): Command {
  const command = new Command('export')
    .summary('write a domain of a server as an edge file')
    .description(
      'Writes records, rules and settings of a domain in the form of edge.yaml, for simulate, test, lint and apply. The ' +
        'text does not depend on the server; with --ids it contains the ids and the state of this server and compiles to ' +
        'the same plan that the server publishes.',
    )
    .argument('<domain>', 'its name')
    .option('--ids', "write the server's ids, and its state where it is not active")
    .option('-o, --output <file>', 'write to a file instead of stdout, with the keys of the lock beside it')
    .addOption(serverOption())
    .addOption(keyOption())
    .action(run);
  return withExamples(command, EXAMPLES);
}
