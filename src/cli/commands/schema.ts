/** `edgeplan schema`: prints the JSON Schema of a file, for editors that complete and check it. */
import { Argument, Command } from 'commander';
import { fileSchema, SCHEMA_NAMES, type SchemaName } from '../../workbench/simulation/field-reference.ts';
import { type Examples, withExamples } from '../examples.ts';
import { write } from '../output.ts';

/** Examples of the help. */
const EXAMPLES: Examples = {
  schema: ['edgeplan schema > edge.schema.json', 'edgeplan schema test > edge.test.schema.json'],
};

export function schemaCommand(): Command {
  const command = new Command('schema')
    .summary('print the JSON Schema of edge.yaml or edge.test.yaml')
    .description(
      'Prints the JSON Schema of edge.yaml (`edge`) or of edge.test.yaml (`test`): every field with its type, bounds, ' +
        'default and meaning. Editors complete and check a file whose first line names its schema, as the files of init do.',
    )
    .addArgument(new Argument('[file]', 'which file the schema is of').choices(SCHEMA_NAMES).default('edge'))
    .addHelpText(
      'after',
      '\nThe first line: # yaml-language-server: $schema=edge.schema.json\n' +
        'A server has both at /docs/edge.schema.json and /docs/edge.test.schema.json.',
    )
    .action((name: SchemaName) => write(fileSchema(name)));
  return withExamples(command, EXAMPLES);
}
