/** `edgeplan draft`: collects changes of rules, shows what they would change, publishes them or throws them away. */
import { Argument, Command, Option } from 'commander';
import { PUBLISH_MODES, type PublishMode } from '../../control/store/tables/domains.ts';
import { visible } from '../../workbench/simulation/render-text.ts';
import { type Examples, withExamples } from '../examples.ts';
import { EXIT } from '../exit.ts';
import { jsonOption } from '../options.ts';
import { write, writeDocument } from '../output.ts';
import { draftDiffText, draftText, type PrintedDraftDiff } from '../print/diff.ts';
import { keyOption, type ServerAccess, serverOption } from '../remote/call-api.ts';
import {
  proveRemotely,
  publicationOutcome,
  publishDraft,
  readDraft,
  requireInvariants,
} from '../remote/publication.ts';
import { callDomainApi, domainPath } from '../remote/remote-domain.ts';

/** The options of every subcommand, as commander parses them. */
interface Flags extends ServerAccess {
  readonly json?: boolean;
}

async function show(domain: string, { json, ...access }: Flags): Promise<void> {
  const { draft, tag } = await readDraft(domain, access);
  if (json === true) await writeDocument('draft', { domain, ...draft, etag: tag });
  else await write(draftText(domain, draft));
}

/** Prints what a draft changes; exit code 1 when that is anything, as `edgeplan diff`. */
async function diff(
  domain: string,
  { json, proof, cursor, ...access }: Flags & { readonly proof: boolean; readonly cursor?: string },
): Promise<void> {
  const query = new URLSearchParams({ proof: String(proof), ...(cursor === undefined ? {} : { cursor }) });
  const path = domainPath(domain, `/draft/diff?${query}`);
  const { body, headers } = await callDomainApi(domain, access, { method: 'GET', path });
  const compared = body as PrintedDraftDiff;
  if (json === true) await writeDocument('draft-diff', { ...compared, etag: headers.get('etag') });
  else await write(draftDiffText(compared));
  if (!compared.same) process.exitCode = EXIT.no;
}

/** Publishes the draft as it is, or the one with an ETag that was read before. */
async function publish(
  domain: string,
  { json, ifMatch, ...access }: Flags & { readonly ifMatch?: string },
): Promise<void> {
  const { body, headers } = await publishDraft(domain, access, ifMatch ?? null);
  const { changed, message } = body as { readonly changed: number; readonly message: string };
  const revision = changed === 0 ? null : headers.get('x-revision');
  if (json === true) {
    await writeDocument('draft-publication', {
      domain,
      changed,
      revision: revision === null ? null : Number(revision),
    });
    return;
  }
  const out = revision === null ? null : await publicationOutcome(domain, revision, access);
  await write(`${out === null ? visible(message) : out.clause}\n`);
}

async function discard(
  domain: string,
  { json, ifMatch, ...access }: Flags & { readonly ifMatch?: string },
): Promise<void> {
  const condition = ifMatch === undefined ? {} : { ifMatch };
  const path = domainPath(domain, '/draft');
  const { body } = await callDomainApi(domain, access, { method: 'DELETE', path, ...condition });
  const { changed, message } = body as { readonly changed: number; readonly message: string };
  if (json === true) await writeDocument('draft-discard', { domain, changed });
  else await write(`${visible(message)}\n`);
}

/** Shows the mode, or sets it. */
async function mode(
  domain: string,
  wanted: PublishMode | undefined,
  { json, ...access }: Flags,
): Promise<void> {
  const path = domainPath(domain, '/publishing');
  const { body } = await callDomainApi(
    domain,
    access,
    wanted === undefined ? { method: 'GET', path } : { method: 'PUT', path, body: { publish_mode: wanted } },
  );
  const { publish_mode } = body as { readonly publish_mode: PublishMode };
  if (json === true) await writeDocument('publishing', { domain, publish_mode });
  else {
    const how =
      publish_mode === 'manual' ? 'collects changes of rules in a draft' : 'publishes every change at once';
    await write(`${domain} ${how}\n`);
  }
}

/** A subcommand on one domain, with the options that all have. */
function subcommand(name: string, format: string): Command {
  return new Command(name)
    .argument('<domain>', 'its name')
    .addOption(jsonOption(format))
    .addOption(serverOption())
    .addOption(keyOption());
}

function ifMatchOption(): Option {
  return new Option(
    '--if-match <etag>',
    'only the draft with this ETag, which --json of show and diff prints',
  );
}

/** Examples of the help. */
const EXAMPLES: Examples = {
  'draft show': ['edgeplan draft show example.com', 'edgeplan draft show example.com --json'],
  'draft diff': ['edgeplan draft diff example.com', 'edgeplan draft diff example.com --no-proof --json'],
  'draft publish': [
    'edgeplan draft publish example.com',
    'edgeplan draft publish example.com --if-match \'"Gf1x8NGzbRhBqDLrXcYAiw"\'',
  ],
  'draft discard': ['edgeplan draft discard example.com'],
  'draft require': [
    'edgeplan draft require example.com edge.test.yaml',
    'edgeplan draft require example.com --none',
  ],
  'draft prove': ['edgeplan draft prove example.com'],
  'draft mode': ['edgeplan draft mode example.com manual', 'edgeplan draft mode example.com automatic'],
};

/** Creates the command. */
export function draftCommand(): Command {
  const command = new Command('draft')
    .summary('changes of rules that wait: collect, show, compare, prove, publish, discard')
    .description(
      'Of a domain in manual mode, changes of rules wait in a draft until it is published as one revision. Records and settings ' +
        'take effect at once.',
    )
    .addCommand(
      subcommand('show', 'draft')
        .summary('which rules the draft changes')
        .description('Prints which rules the draft of a domain changes, since when and by whom.')
        .action(show),
    )
    .addCommand(
      subcommand('diff', 'draft-diff')
        .summary('what the draft would change, proved')
        .description(
          'Prints what the draft of a domain would change: rules field by field, and outcomes, each with a request that shows ' +
            'it. Ends with 1 when anything differs.',
        )
        .option('--no-proof', 'compare the rules alone, without proving which outcomes change')
        .option('--cursor <cursor>', 'go on after a page')
        .action(diff),
    )
    .addCommand(
      subcommand('publish', 'draft-publication')
        .summary('publish the draft as one revision')
        .description('Publishes the draft of a domain as one revision, and waits until it is out.')
        .addOption(ifMatchOption())
        .action(publish),
    )
    .addCommand(
      subcommand('discard', 'draft-discard')
        .summary('throw the draft away')
        .description('Throws the draft of a domain away: its rules are again those that are published.')
        .addOption(ifMatchOption())
        .action(discard),
    )
    .addCommand(
      subcommand('require', 'invariants')
        .summary('invariants that a draft must satisfy: show or set')
        .description(
          'Shows the invariants that are proved before a draft of a domain is published, or sets those of test files.',
        )
        .addArgument(new Argument('[files...]', 'test files whose invariants are required from now on'))
        .option('--none', 'require none')
        .action(requireInvariants),
    )
    .addCommand(
      subcommand('prove', 'invariants-proof')
        .summary('prove the required invariants of the draft')
        .description(
          'Proves the invariants that a domain requires, for its draft. Ends with 1 when one does not hold.',
        )
        .action(proveRemotely),
    )
    .addCommand(
      subcommand('mode', 'publishing')
        .summary('how changes of rules are published: show or set')
        .description(
          'Shows or sets how changes of rules are published: each at once (automatic), or together as a draft (manual).',
        )
        .addArgument(new Argument('[mode]', 'the mode to set').choices(PUBLISH_MODES))
        .action(mode),
    );
  return withExamples(command, EXAMPLES);
}
