/**
 * `apply` to a domain that publishes by hand: changes of rules wait in its draft; with `--publish` the draft is published after
 * them. A draft that others have begun is never published along the way.
 */
import { quantity } from '../../workbench/simulation/render-text.ts';
import { CommandFault, EXIT } from '../exit.ts';
import type { ServerAccess } from '../remote/call-api.ts';
import { publishDraft, readDraft } from '../remote/draft.ts';

/** The options that decide what becomes of changes of rules. */
interface DraftFlags extends ServerAccess {
  /** Refuses a domain that would publish the changes at once. */
  readonly draft?: boolean;
  /** Publishes the draft after the changes. */
  readonly publish?: boolean;
}

/**
 * Checks before the first change that the domain can be changed this way. Returns the number of its draft. @throws CommandFault with
 * the remedy
 */
export async function draftFor(
  domain: string,
  { draft: leave, publish, ...access }: DraftFlags,
): Promise<number> {
  const { draft } = await readDraft(domain, access);
  if (draft.publish_mode === 'automatic') {
    if (leave !== true) return draft.edit;
    throw new CommandFault(EXIT.server, `\`${domain}\` publishes every change at once and has no draft`, {
      remedy: `edgeplan draft mode ${domain} manual makes it collect them; or apply without --draft`,
    });
  }
  if (publish !== true || draft.changed === 0) return draft.edit;
  const rules = quantity(draft.changed, 'rule');
  throw new CommandFault(
    EXIT.server,
    `the draft of \`${domain}\` changes ${rules} already, which this would publish`,
    {
      remedy:
        `edgeplan draft diff ${domain} shows them; publish or discard them first (edgeplan draft publish, edgeplan draft discard), ` +
        'or apply without --publish adds to them',
    },
  );
}

/** The draft before the changes of rules, and its numbers that they were answered with. */
interface WrittenDraft {
  readonly from: number;
  readonly edits: ReadonlySet<number>;
}

/**
 * Publishes the draft after the changes of rules. Returns the revision. @throws CommandFault if others have changed the draft
 * meanwhile: its number has then risen by more than these changes
 */
export async function publishWritten(
  domain: string,
  access: ServerAccess,
  { from, edits }: WrittenDraft,
): Promise<string | null> {
  const { draft, tag } = await readDraft(domain, access);
  const own = [...edits].filter((edit) => edit !== from).length;
  if (draft.edit !== from + own) {
    throw new CommandFault(
      EXIT.server,
      `the changes wait in the draft of \`${domain}\`, which others have changed meanwhile`,
      {
        remedy: `edgeplan draft diff ${domain} shows all of them, edgeplan draft publish ${domain} publishes them`,
      },
    );
  }
  const { headers } = await publishDraft(domain, access, tag);
  return headers.get('x-revision');
}
