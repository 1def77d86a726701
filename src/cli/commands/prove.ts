/** `edgeplan prove`: proves the invariants of a test file, of every request and not of samples. */
import { Command } from 'commander';
import { type Examples, withExamples } from '../examples.ts';
import { watchOption } from '../long-runs.ts';
import { colourOption, edgeFileOption } from '../options.ts';
import { reporterOptions } from '../reporters/reporters.ts';
import { runTestFiles } from './test.ts';

/** Examples of the help. */
const EXAMPLES: Examples = {
  prove: [
    'edgeplan prove',
    'edgeplan prove -f shop/edge.yaml --filter office',
    'edgeplan prove --reporter github',
  ],
};

/** Creates the command. */
export function proveCommand(): Command {
  const command = new Command('prove')
    .description('Prove the invariants of an edge file, or show a request that breaks them.')
    .argument('[files...]', 'test files (default: edge.test.yaml beside edge.yaml)')
    .addOption(edgeFileOption())
    .option('--filter <text>', 'only invariants with this in their name');
  for (const option of reporterOptions('edgeplan.tests/v1')) command.addOption(option);
  command
    .addOption(watchOption())
    .addOption(colourOption())
    .addHelpText('after', '\nExits with 1 when an invariant is broken or cannot be proved.')
    .action((files, flags) => runTestFiles(files, { ...flags, onlyInvariants: true }));
  return withExamples(command, EXAMPLES);
}
