/**
 * Opens what `edgeplan gateway` compares: an edge file, or an OpenAPI document, which becomes a rule set with one gateway that takes
 * tokens of any consumer.
 */
import { isOpenApiBytes, readOpenApiBytes } from '../../rules/files/openapi-file.ts';
import { parseRuleSet } from '../../rules/model/parse.ts';
import type { RuleSet } from '../../rules/model/types.ts';
import type { LocatedOperation } from '../../rules/openapi/path-items.ts';
import { DiagnosedFault } from '../exit.ts';
import { type ColourChoice, colourFor } from '../output.ts';
import { diagnosticsText, MISTAKES_PRINTED, tally } from '../print/diagnostics.ts';
import { compileInput, readEdge } from './open-subject.ts';

/** What a file is. */
export interface OpenedGateways {
  readonly kind: 'an edge file' | 'an OpenAPI document';
  readonly ruleSet: RuleSet;
}

/** Reads a file; prints its errors on stderr. @throws CommandFault */
export async function openGateways(file: string, colour: ColourChoice): Promise<OpenedGateways> {
  const input = await readEdge(file);
  if (!isOpenApiBytes(input.octets))
    return { kind: 'an edge file', ruleSet: compileInput(input, colour).ruleSet };
  const document = readOpenApiBytes(input.octets, input.name);
  const texts = new Map([[input.name, new TextDecoder().decode(input.octets)]]);
  const options = { colour: colourFor(process.stderr, colour), texts, most: MISTAKES_PRINTED };
  if (!document.ok) {
    process.stderr.write(diagnosticsText(document.diagnostics, options));
    throw new DiagnosedFault(`\`${file}\` is refused: ${tally(document.diagnostics)}`, document.diagnostics);
  }
  return { kind: 'an OpenAPI document', ruleSet: ruleSetOf(document.operations) };
}

/** A host that no document has (RFC 2606 §3). */
const HOST = 'api.example.com';

/** A rule set whose only rule is the gateway of a document, at the root of a host. */
function ruleSetOf(operations: readonly LocatedOperation[]): RuleSet {
  const parsed = parseRuleSet({
    domain: { name: HOST },
    records: [{ id: 1, name: '@', type: 'A', destination: '192.0.2.1', proxied: true }],
    rules: [
      {
        ...{ id: 1, type: 'gateway', base_path: '/', auth: { jwt: { issuers: ['any'] } } },
        validation: { on_uninspected: 'pass' },
        operations: operations.map(({ operation }) => operation),
      },
    ],
    registry: {
      consumers: [{ username: 'any' }],
      token_issuers: [
        { name: 'any', issuer: `https://${HOST}/`, audiences: ['any'], jwks_url: `https://${HOST}/keys` },
      ],
    },
  });
  if (!parsed.ok) throw new Error('the operations of a document that was read are no gateway');
  return parsed.ruleSet;
}
