/** `edgeplan consumer-key`: makes a key of a consumer, and the entry of an edge file that has its hash. */
import { Command } from 'commander';
import { MAX_REGISTRY_NAME } from '../../base/vocabulary/limits.ts';
import { mintKey } from '../../rules/model/registry/mint-key.ts';
import { type Examples, withExamples } from '../examples.ts';
import { usageFault } from '../exit.ts';
import { note, write, writeDocument } from '../output.ts';

interface Flags {
  readonly name?: string;
  readonly json?: boolean;
}

/** Prints a new key, once: nothing stores it. */
async function run({ name, json }: Flags): Promise<void> {
  if (name !== undefined && (name === '' || name.length > MAX_REGISTRY_NAME))
    throw usageFault(`--name takes 1 to ${MAX_REGISTRY_NAME} characters`);
  const { text, sha256 } = mintKey();
  if (json === true) return writeDocument('consumer-key', { name: name ?? null, key: text, sha256 });
  const named = name === undefined ? '' : `name: ${JSON.stringify(name)}, `;
  await write(`${text}\n\n- { ${named}sha256: ${sha256} }\n`);
  note('the key is shown once; the second line belongs into `keys` of a consumer in the edge file');
}

/** Examples of the help. */
const EXAMPLES: Examples = {
  'consumer-key': ['edgeplan consumer-key', 'edgeplan consumer-key --name ci --json'],
};

/** Creates the command. */
export function consumerKeyCommand(): Command {
  const command = new Command('consumer-key')
    .summary('make a key for a consumer of an edge file')
    .description(
      'Makes a key of 256 bits for a consumer of an API, and prints it with the entry for `keys` of the consumer in the edge ' +
        'file, which has its hash alone. Nothing stores the key.',
    )
    .option('--name <name>', 'what the key is for')
    .option('--json', 'print an object in the format edgeplan.consumer-key/v1')
    .action(run);
  return withExamples(command, EXAMPLES);
}
