/**
 * `edgeplan node-token`: creates, lists, rotates and revokes the tokens by which nodes authenticate to the feed.
 * Works on the store, beside a running server.
 */
import { Command, Option } from 'commander';
import { isStoreFault } from '../../base/storage/fault.ts';
import { DEFAULT_GROUP, groupNames } from '../../base/vocabulary/node-groups.ts';
import { TOKEN_OVERLAP_MS } from '../../control/publishing/limits.ts';
import { createNode, NODE_NAME_SHAPE, rotateToken } from '../../control/publishing/nodes.ts';
import { openSigner } from '../../control/publishing/signer.ts';
import type { Store } from '../../control/store/store.ts';
import type { NodeRow, ReplacedTokenRow } from '../../control/store/tables/nodes.ts';
import { type Examples, withExamples } from '../examples.ts';
import { CommandFault, EXIT, usageFault } from '../exit.ts';
import { findNode, type StoreFlags, withData, withStore } from '../open-data.ts';
import { jsonOption, overlapOption, readNodeGroups } from '../options.ts';
import { note, write, writeDocument } from '../output.ts';
import { tableText } from '../print/table.ts';

/** Options of `create`, as commander parses them. */
interface CreateFlags extends StoreFlags {
  /** Node groups separated by commas. */
  readonly group: string;
}

/**
 * Creates a node. stdout has its token and the key to trust, as lines of its environment; everything else goes to
 * stderr.
 */
async function create(name: string, { group, ...flags }: CreateFlags): Promise<void> {
  if (!NODE_NAME_SHAPE.test(name)) {
    const remedy = 'use up to 64 letters, digits, dots, dashes and underscores';
    throw usageFault(`\`${name}\` cannot be a node's name`, remedy);
  }
  await withData(flags, async (store) => {
    const signer = await openSigner(store, Date.now);
    const { node, token } = await make(store, name, group);
    await write(`EDGEPLAN_NODE_TOKEN=${token}\nEDGEPLAN_NODE_TRUST=${signer.publicKey}\n`);
    note(`node ${node.id} \`${name}\`; the token is shown only once`);
  });
}

/** Creates the node in its groups. @throws CommandFault when the name is taken */
async function make(store: Store, name: string, groups: string): ReturnType<typeof createNode> {
  try {
    return await store.write(async (tx) => {
      const made = await createNode(tx, name, Date.now());
      await tx.nodes.setGroups(made.node.id, groups);
      return made;
    });
  } catch (error) {
    // Two commands at once: the unique index decides.
    if (isStoreFault(error, 'conflict', 'nodes.name')) {
      throw new CommandFault(EXIT.no, `there is already a node \`${name}\``);
    }
    throw error;
  }
}

/** Options of `list`, as commander parses them. */
interface ListFlags extends StoreFlags {
  /** Prints JSON. */
  readonly json?: boolean;
}

/** A node as JSON. */
function shown(node: NodeRow, replaced: readonly ReplacedTokenRow[]): object {
  const time = (at: number | null): string | null => (at === null ? null : new Date(at).toISOString());
  return {
    id: node.id,
    name: node.name,
    groups: groupNames(node.node_groups),
    last_seen_at: time(node.last_seen_at),
    revoked_at: time(node.revoked_at),
    // Tokens that were replaced and are valid for a while.
    earlier_tokens_until: replaced.map(({ until }) => time(until)),
  };
}

/** Lists the nodes. */
async function list(flags: ListFlags): Promise<void> {
  await withData(flags, async (store) => {
    const nodes = await store.latest.nodes.list();
    const now = Date.now();
    // Tokens that were replaced and are still valid.
    const replaced = (await store.latest.nodes.replacedTokens('all')).filter(({ until }) => now < until);
    const replacedOf = (node: NodeRow): readonly ReplacedTokenRow[] =>
      replaced.filter(({ node_id }) => node_id === node.id);
    if (flags.json === true) {
      await writeDocument('nodes', { nodes: nodes.map((node) => shown(node, replacedOf(node))) });
      return;
    }
    const rows = nodes.map((node) => {
      const before = replacedOf(node);
      return [
        String(node.id),
        node.name,
        node.node_groups,
        [stateOf(node), ...before.map(overlapOf)].join(', '),
      ];
    });
    await write(tableText(['id', 'name', 'groups', 'state'], rows));
    if (rows.length === 0) note('no nodes yet: edgeplan node-token create <name>');
  });
}

/** When a node was last seen, or revoked. */
function stateOf({ last_seen_at, revoked_at }: NodeRow): string {
  if (revoked_at !== null) return `revoked ${new Date(revoked_at).toISOString()}`;
  return last_seen_at === null ? 'never seen' : `seen ${new Date(last_seen_at).toISOString()}`;
}

/** Until when a replaced token is valid. */
function overlapOf({ until }: ReplacedTokenRow): string {
  return `an earlier token valid until ${new Date(until).toISOString()}`;
}

/** Options of `rotate`, as commander parses them. */
interface RotateFlags extends StoreFlags {
  /** Milliseconds for which the previous token stays valid. */
  readonly overlap: number;
}

/** Replaces the token of a node. stdout has the token in the form of the environment and of --token-file. */
async function rotate(name: string, { overlap: overlapMs, ...flags }: RotateFlags): Promise<void> {
  await withData(flags, async (store) => {
    const node = await findNode(store.latest, name);
    if (node.revoked_at !== null) {
      const remedy = 'make another node with edgeplan node-token create';
      throw new CommandFault(EXIT.no, `the token of \`${name}\` was revoked`, { remedy });
    }
    const rotation = await store.write((tx) => rotateToken(tx, node, { now: Date.now(), overlapMs }));
    const until = new Date(rotation.until).toISOString();
    if (!rotation.ok) {
      throw new CommandFault(EXIT.no, `the last tokens are still valid, the first until ${until}`, {
        remedy: 'wait until then, or end all earlier tokens with --overlap 0',
      });
    }
    await write(`EDGEPLAN_NODE_TOKEN=${rotation.token}\n`);
    const before =
      overlapMs === 0 ? 'earlier tokens are no longer valid' : `the previous one is valid until ${until}`;
    note(`the token of \`${name}\` is shown only once; ${before}`);
  });
}

/** Revokes the token of a node. @throws CommandFault when it is revoked already */
async function revoke(name: string, flags: StoreFlags): Promise<void> {
  await withData(flags, async (store) => {
    const node = await findNode(store.latest, name);
    // `false`: an earlier command has revoked it.
    const changed = await store.write((tx) => tx.nodes.revoke(node.id, Date.now()));
    if (!changed) throw new CommandFault(EXIT.no, `the token of \`${name}\` was revoked before`);
    await write(`the token of \`${name}\` is revoked\n`);
  });
}

/** Examples of the help. */
const EXAMPLES: Examples = {
  'node-token create': ['edgeplan node-token create eu-1 --group eu > node.token'],
  'node-token list': ['edgeplan node-token list', 'edgeplan node-token list --json'],
  'node-token rotate': ['edgeplan node-token rotate eu-1 --overlap 12h > node.token'],
  'node-token revoke': ['edgeplan node-token revoke eu-1'],
};

/** Creates the command. */
export function nodeTokenCommand(): Command {
  const overlap = overlapOption('how long the previous token stays valid', {
    milliseconds: TOKEN_OVERLAP_MS,
  });
  const text = 'Make a node and print its token, once, and the key it is to trust.';
  const command = new Command('node-token')
    .description('Make, list, rotate and revoke the tokens of nodes; works beside a running server.')
    .addCommand(
      withStore(
        new Command('create')
          .description(text)
          .argument('<name>')
          .addOption(
            new Option('--group <names>', 'the groups it is in, joined by commas: it sees their domains only')
              .argParser(readNodeGroups)
              .default(DEFAULT_GROUP),
          ),
      ).action(create),
    )
    .addCommand(
      withStore(new Command('list').description('List the nodes.'))
        .addOption(jsonOption('nodes'))
        .action(list),
    )
    .addCommand(
      withStore(
        new Command('rotate')
          .description('Print a new token for a node, once; the previous one ends after an overlap.')
          .argument('<name>')
          .addOption(overlap),
      ).action(rotate),
    )
    .addCommand(
      withStore(new Command('revoke').description("Revoke a node's token.").argument('<name>')).action(
        revoke,
      ),
    );
  return withExamples(command, EXAMPLES);
}
