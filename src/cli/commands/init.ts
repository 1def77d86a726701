/** `edgeplan init`: writes a commented edge file and its tests. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import { makeFolder } from '../../base/platform/durable-file.ts';
import { fileSchema, SCHEMA_FILES } from '../../workbench/simulation/field-reference.ts';
import { shellWord } from '../../workbench/simulation/render-text.ts';
import { type Examples, withExamples } from '../examples.ts';
import { usageFault, writeFault } from '../exit.ts';
import { write } from '../output.ts';
import { STARTER_RULES, STARTER_TESTS } from '../starter-files.ts';
import { writeNew } from '../write-file.ts';

/** The files to write; the first line of each names the schema that it has. */
const FILES = [
  { name: 'edge.yaml', text: () => STARTER_RULES },
  { name: 'edge.test.yaml', text: () => STARTER_TESTS },
  { name: SCHEMA_FILES.edge, text: () => fileSchema('edge') },
  { name: SCHEMA_FILES.test, text: () => fileSchema('test') },
] as const;

/** Writes the files that do not exist yet. @throws CommandFault */
async function init(folder: string): Promise<void> {
  try {
    makeFolder(folder);
  } catch (error) {
    // The path itself exists and is no folder.
    if (existsSync(folder)) throw usageFault(`\`${folder}\` is a file; name a folder`);
    throw writeFault(folder, error);
  }
  const lines: string[] = [];
  let written = 0;
  for (const { name, text } of FILES) {
    const file = join(folder, name);
    const fresh = await writeNew(file, text());
    if (fresh) written += 1;
    lines.push(`${fresh ? 'wrote' : 'kept '} ${file}${fresh ? '' : ', which was there already'}\n`);
  }
  const file = join(folder, 'edge.yaml');
  // The default file needs no -f.
  const named = file === 'edge.yaml' ? '' : `-f ${shellWord(file)} `;
  // Nothing new was written: the user knows the commands already.
  if (written > 0) lines.push(`\nnext: npx edgeplan simulate ${named}https://shop.example.com/api/orders\n`);
  await write(lines.join(''));
}

/** Examples of the help. */
const EXAMPLES: Examples = {
  init: ['edgeplan init', 'edgeplan init shop && edgeplan test -f shop/edge.yaml'],
};

/** Creates the command. */
export function initCommand(): Command {
  const command = new Command('init')
    .summary('write a starter edge.yaml and edge.test.yaml')
    .description(
      'Writes a commented edge.yaml and edge.test.yaml, and the JSON Schemas with which editors complete and check them. ' +
        'Existing files stay as they are.',
    )
    .argument('[folder]', 'where to write them', '.')
    .action(init);
  return withExamples(command, EXAMPLES);
}
