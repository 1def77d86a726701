/** `edgeplan export`: writes a domain of a server as an edge file. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Command } from 'commander';
import { listsFolder } from '../../edge/middleware/node/edge-input.ts';
import { type PrintedList, printEdge } from '../../rules/files/print-edge.ts';
import { listsOf } from '../../rules/model/list-names.ts';
import { printListText } from '../../rules/model/lists.ts';
import type { EntryList } from '../../rules/model/types.ts';
import { findSection, lockPath, readLock } from '../apply/lock-file.ts';
import { type Examples, withExamples } from '../examples.ts';
import { note, write } from '../output.ts';
import { keyOption, type ServerAccess, serverOption } from '../remote/call-api.ts';
import { type RemoteDomain, readLists, readRemote } from '../remote/remote-domain.ts';
import { registryOf } from '../remote/remote-registry.ts';
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
  const lists = await exportedLists(remote, flags);
  const printed = {
    ...{ domain: domainPart, records, rules, ids, ruleKeys },
    lists: lists.map(placed(flags)),
    registry: registryOf(remote.registry),
  };
  const { text, orphans, untagged } = printEdge(printed);
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
  for (const list of lists) {
    if (!isFiled(list, flags)) continue;
    const folder = listsFolder(flags.output)!;
    await mkdir(folder, { recursive: true });
    await writeWhole(join(folder, `${list.name}.txt`), Buffer.from(printListText(list.kind, list.entries)));
  }
}

/** Entries of a list that an edge file has itself; of a longer one they are in a file of their own. */
const MOST_WRITTEN = 50;

/** The lists of the domain, and those of the account that its rules name. @throws CommandFault */
async function exportedLists(remote: RemoteDomain, flags: Flags): Promise<readonly EntryList[]> {
  const named = new Set(remote.rules.flatMap(listsOf).map(({ name }) => name));
  for (const { name } of remote.lists) named.delete(name);
  if (named.size === 0) return remote.lists;
  const shared = await readLists('/lists/', flags);
  return [...remote.lists, ...shared.filter(({ name }) => named.has(name))];
}

/** Whether the entries of a list are in a file of their own: stdout has all of them. */
function isFiled({ entries }: EntryList, { output }: Flags): boolean {
  return output !== undefined && entries.length > MOST_WRITTEN;
}

/** A list as the edge file has it: without entries, if they are in a file of their own. */
function placed(flags: Flags): (list: EntryList) => PrintedList {
  return (list) => (isFiled(list, flags) ? { name: list.name, kind: list.kind } : list);
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
