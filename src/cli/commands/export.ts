/** `edgeplan export`: a domain of a server as an edge file. */
import { Command } from 'commander';
import { printEdge } from '../../files/print-edge.ts';
import { note, write } from '../output.ts';
import { keyOption, type ServerAccess, serverOption } from '../remote/call-api.ts';
import type { RemoteDomain } from '../remote/remote-domain.ts';
import { readRemote } from '../remote/remote-domain.ts';
import { writeWhole } from '../write-file.ts';

interface Flags extends ServerAccess {
  readonly ids?: boolean;
  readonly output?: string;
}

async function run(domain: string, flags: Flags): Promise<void> {
  const remote = await readRemote(domain, flags);
  const { records, rules } = remote;
  const ids = flags.ids === true;
  const { text, orphans } = printEdge({ domain: domainFields(remote, ids), records, rules, ids });
  for (const { type, id } of orphans)
    note(`edgeplan: the records of rule ${type}/${id} are gone; the file has it for all records, disabled`);
  if (flags.output === undefined) return write(text);
  await writeWhole(flags.output, Buffer.from(text));
}

/** The server's own verdicts (its status, a suspension) go along only where the very plan is wanted. */
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

/** The command, to be added to a program. */
export function exportCommand(): Command {
  return new Command('export')
    .summary('write a domain of a server as an edge file')
    .description(
      'Writes records, rules and settings of a domain in the form of edge.yaml, for simulate, test, lint and apply. The ' +
        'text is the same wherever the domain is kept; with --ids it holds the ids and the state of this server and ' +
        'compiles to the very plan that the server publishes.',
    )
    .argument('<domain>', 'its name')
    .option('--ids', "write the server's ids, and its state where it is not active")
    .option('-o, --output <file>', 'write to a file instead of stdout')
    .addOption(serverOption())
    .addOption(keyOption())
    .action(run);
}
