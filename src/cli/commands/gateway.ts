/** `edgeplan gateway`: works on the OpenAPI documents of gateways. */
import { Command } from 'commander';
import { type Examples, withExamples } from '../examples.ts';
import { gatewayDiffCommand } from '../gateway/diff.ts';
import { gatewayDraftCommand } from '../gateway/draft.ts';

/** Examples of the help. */
const EXAMPLES: Examples = {
  'gateway diff': [
    'edgeplan gateway diff openapi.old.yaml openapi.yaml',
    'edgeplan gateway diff edge.old.yaml edge.yaml --json',
  ],
  'gateway draft': [
    'edgeplan gateway draft --log access.log --host api.example.com -o openapi.yaml',
    'edgeplan gateway draft --log decisions.jsonl.gz --base-path /v1 --min-requests 5',
    'edgeplan gateway draft --domain example.com --gateway 12 -o openapi.yaml',
  ],
};

/** Creates the command. */
export function gatewayCommand(): Command {
  const gateway = new Command('gateway')
    .summary('compare versions of an API, or draft its OpenAPI document from traffic')
    .description('Works on the OpenAPI documents of gateways.')
    .addCommand(gatewayDiffCommand())
    .addCommand(gatewayDraftCommand());
  return withExamples(gateway, EXAMPLES);
}
