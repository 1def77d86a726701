/** `edgeplan gateway diff`: what two versions of an API accept differently, proved over all requests and credentials. */
import { Command } from 'commander';
import { proveAdmissions } from '../../workbench/proofs/gateway-changes.ts';
import { admissionsDocument, admissionsText } from '../../workbench/simulation/render-admissions.ts';
import { EXIT, inputFault, usageFault } from '../exit.ts';
import { openGateways } from '../input/open-gateways.ts';
import { colourOption } from '../options.ts';
import { type ColourChoice, write, writeDocument } from '../output.ts';

/** The options of the command, as commander parses them. */
interface Flags {
  /** Prints JSON. */
  readonly json?: boolean;
  readonly color: ColourChoice;
}

/** Compares, prints what differs, and sets exit code 1 when anything does or is not proved. */
async function run(before: string, after: string, { json, color }: Flags): Promise<void> {
  if (before === '-' && after === '-') throw usageFault('only one of the inputs can be stdin');
  // One after the other, so that diagnostics of both files are not interleaved.
  const older = await openGateways(before, color);
  const newer = await openGateways(after, color);
  if (older.kind !== newer.kind) {
    const remedy = 'give two OpenAPI documents, or two edge files';
    throw usageFault(`\`${before}\` is ${older.kind}, and \`${after}\` ${newer.kind}`, remedy);
  }
  const proved = proveAdmissions(older.ruleSet, newer.ruleSet);
  if (proved === null)
    throw inputFault(`the filters of hosts in \`${before}\` and \`${after}\` are too complex for a proof`);
  const names = { before, after };
  if (json === true) await writeDocument('gateway-diff', { ...names, ...admissionsDocument(proved) });
  else await write(admissionsText(proved, names));
  const { changes, open, limits } = proved;
  if (changes.length + open.length + limits.length > 0) process.exitCode = EXIT.no;
}

/** Creates the sub command. */
export function gatewayDiffCommand(): Command {
  return new Command('diff')
    .summary('what two versions of an API accept differently')
    .description(
      'Compares two OpenAPI documents, or the gateways of two edge files: requests that one of them alone accepts, ' +
        'each with credentials and a body that show it, or the proof that no request is one. Limits of usage plans that ' +
        'became looser or stricter are listed. Ends with 1 when anything differs or is not proved.',
    )
    .argument('<before>', 'an OpenAPI document or an edge file; - is stdin')
    .argument('<after>', 'the one to compare it with')
    .option('--json', 'the difference as JSON (edgeplan.gateway-diff/v1)')
    .addOption(colourOption())
    .action(run);
}
