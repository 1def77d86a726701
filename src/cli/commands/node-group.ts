/**
 * `edgeplan node-group`: lists and changes node groups, which decide which nodes serve which domains. Works on the
 * store, beside a running server.
 */
import { Command } from 'commander';
import { listGroups } from '../../control/publishing/nodes.ts';
import { type Examples, withExamples } from '../examples.ts';
import { findNode, type StoreFlags, withData, withStore } from '../open-data.ts';
import { jsonOption, readNodeGroups } from '../options.ts';
import { note, write, writeDocument } from '../output.ts';
import { tableText } from '../print/table.ts';

/** Options of `list`, as commander parses them. */
interface ListFlags extends StoreFlags {
  /** Prints JSON. */
  readonly json?: boolean;
}

/** Lists the groups, and warns of groups with domains and no node. */
async function list(flags: ListFlags): Promise<void> {
  const groups = await withData(flags, (store) => store.read(listGroups));
  if (flags.json === true) {
    await writeDocument('node-groups', { groups });
    return;
  }
  const rows = groups.map(({ name, nodes, domains }) => [name, String(nodes), String(domains)]);
  await write(tableText(['group', 'nodes', 'domains'], rows));
  for (const { name, nodes, domains } of groups) {
    if (nodes === 0 && domains > 0) {
      note(`warning: no node is in \`${name}\`; domains that are in no other group are served nowhere`);
    }
  }
  if (rows.length === 0) note('no nodes and no domains yet');
}

/** Moves a node to groups. */
async function setNode(name: string, groups: string, flags: StoreFlags): Promise<void> {
  await withData(flags, (store) =>
    store.write(async (tx) => {
      const node = await findNode(tx, name);
      await tx.nodes.setGroups(node.id, groups);
    }),
  );
  await write(`\`${name}\` is in ${groups}\n`);
  note('the node follows within seconds: it gets the plans of its groups and removes all others');
}

/** Examples of the help. */
const EXAMPLES: Examples = {
  'node-group list': ['edgeplan node-group list', 'edgeplan node-group list --json'],
  'node-group set-node': ['edgeplan node-group set-node eu-1 eu,us'],
};

/** Creates the command. */
export function nodeGroupCommand(): Command {
  const command = new Command('node-group')
    .description(
      'Decide which nodes serve which domains: a token reads the domains of its groups only; works beside a running server.',
    )
    .addCommand(
      withStore(new Command('list').description('List the groups that a node or a domain is in.'))
        .addOption(jsonOption('node-groups'))
        .action(list),
    )
    .addCommand(
      withStore(
        new Command('set-node')
          .description('Move a node to groups, out of all others.')
          .argument('<node>')
          .argument('<groups>', 'names joined by commas, such as eu,us', readNodeGroups),
      ).action(setNode),
    );
  return withExamples(command, EXAMPLES);
}
