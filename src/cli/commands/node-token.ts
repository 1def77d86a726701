/** `edgeplan node-token`: what a node shows to read the feed. Works on the data itself, beside a running server. */
import { Command } from 'commander';
import { createNode, NODE_NAME_SHAPE } from '../../publisher/node-token.ts';
import { openSigner } from '../../publisher/signer.ts';
import { isStoreFault, StoreFault } from '../../store/fault.ts';
import { openStore } from '../../store/open.ts';
import type { Store } from '../../store/store.ts';
import { databaseOption } from '../database-option.ts';
import { CommandFault, EXIT, usageFault } from '../exit.ts';
import { write } from '../output.ts';

interface Options {
  readonly database: string;
}

/** Runs `work` on the store, and says in a sentence what the store could not do. */
async function withStore(database: string, work: (store: Store) => Promise<void>): Promise<void> {
  try {
    const store = await openStore({ database, role: 'tool' });
    try {
      await work(store);
    } finally {
      await store.close();
    }
  } catch (error) {
    if (error instanceof StoreFault) throw new CommandFault(EXIT.server, error.message, { cause: error });
    throw error;
  }
}

async function create(name: string, { database }: Options): Promise<void> {
  if (!NODE_NAME_SHAPE.test(name)) {
    throw usageFault(
      `\`${name}\` cannot be a node's name`,
      'use up to 64 letters, digits, dots, dashes and underscores',
    );
  }
  await withStore(database, async (store) => {
    const signer = await openSigner(store, Date.now());
    try {
      const { node, token } = await store.write((tx) => createNode(tx, name, Date.now()));
      await write(
        `node ${node.id} \`${name}\`; the token is shown now and never again\n\n` +
          `EDGEPLAN_NODE_TOKEN=${token}\n` +
          `EDGEPLAN_NODE_TRUST=${signer.publicKey}\n`,
      );
    } catch (error) {
      if (!isStoreFault(error, 'conflict')) throw error;
      throw usageFault(
        `there is a node \`${name}\` already`,
        'choose another name, or revoke that one first',
      );
    }
  });
}

async function list({ database }: Options): Promise<void> {
  await withStore(database, async (store) => {
    const seen = (at: number | null): string =>
      at === null ? 'never seen' : `seen ${new Date(at).toISOString()}`;
    const lines = (await store.latest.nodes.list()).map(
      ({ id, name, last_seen_at, revoked_at }) =>
        `${id}\t${name}\t${revoked_at === null ? seen(last_seen_at) : 'revoked'}\n`,
    );
    await write(lines.join(''));
  });
}

async function revoke(name: string, { database }: Options): Promise<void> {
  await withStore(database, async (store) => {
    const node = (await store.latest.nodes.list()).find((one) => one.name === name);
    if (node === undefined)
      throw usageFault(`there is no node \`${name}\``, 'edgeplan node-token list names them');
    const changed = await store.write((tx) => tx.nodes.revoke(node.id, Date.now()));
    await write(
      changed ? `the token of \`${name}\` is revoked\n` : `the token of \`${name}\` was revoked before\n`,
    );
  });
}

export function nodeTokenCommand(): Command {
  const command = new Command('node-token')
    .summary('make, list and revoke the tokens of nodes')
    .description('A node shows its token to read what is published. Only a SHA-256 of it is kept.');
  command
    .command('create')
    .description('Makes a node and shows its token once, with the key it should trust.')
    .argument('<name>', "the node's name")
    .addOption(databaseOption())
    .action(create);
  command.command('list').description('Lists the nodes.').addOption(databaseOption()).action(list);
  command
    .command('revoke')
    .description("Revokes a node's token; a connected node is cut off.")
    .argument('<name>', "the node's name")
    .addOption(databaseOption())
    .action(revoke);
  return command;
}
