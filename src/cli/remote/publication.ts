/**
 * Publications of a domain over the API: its draft and invariants, and the outcome of a publication. A revision of a
 * domain that must not be served is published but not served.
 */
import { mayServe } from '../../control/publishing/make-plan.ts';
import type { DomainRow, PublishMode } from '../../control/store/tables/domains.ts';
import { quantity, visible } from '../../workbench/simulation/render-text.ts';
import { CommandFault, EXIT, usageFault } from '../exit.ts';
import { readTests } from '../input/domain-files.ts';
import { write, writeDocument } from '../output.ts';
import type { ApiResponse, ServerAccess } from './call-api.ts';
import { callDomainApi, domainPath, getDomain } from './remote-domain.ts';

/** The part of a domain that decides whether it is served. */
type State = Pick<DomainRow, 'status' | 'suspended'>;

/** The outcome, for printing. */
export interface PublicationOutcome {
  /** Whether nodes serve the revision. */
  readonly served: boolean;
  /** A clause, such as `example.com is out as revision 4`. */
  readonly clause: string;
  /** How the domain gets served; `null` if it is served already, or if only the service can change that. */
  readonly remedy: string | null;
}

/** Reads the state of the domain and describes whether its published revision is served. */
export async function publicationOutcome(
  domain: string,
  revision: string,
  options: ServerAccess,
): Promise<PublicationOutcome> {
  const state = (await getDomain(domain, options)) as State;
  if (mayServe(state))
    return { served: true, clause: `${domain} is out as revision ${revision}`, remedy: null };
  const why = state.suspended ? 'suspended' : state.status;
  const clause = `${domain} is published as revision ${revision}, but not served while it is ${visible(why)}`;
  return { served: false, clause, remedy: nextStep(domain, state) };
}

/** The next step for a state that is not served; `null` if no step helps. */
export function nextStep(domain: string, { status }: Pick<State, 'status'>): string | null {
  if (status === 'pending') {
    return `delegate it to a set of GET /domains/ns-sets; POST /domains/${domain}/check-ns checks it at once`;
  }
  if (status === 'unverified') {
    return `publish the TXT record that GET /domains/${domain} shows, then POST /domains/${domain}/verify`;
  }
  return status === 'disabled' ? `POST /domains/${domain}/enable enables it again` : null;
}

/** The draft as the API answers it; of a long one the first changes. */
export interface RemoteDraft {
  readonly publish_mode: PublishMode;
  readonly edit: number;
  readonly since: string | null;
  readonly published_revision: number | null;
  readonly rolled_back: boolean;
  readonly changed: number;
  readonly changes: readonly {
    readonly rule: string;
    readonly change: string;
    readonly at: string | null;
    readonly account_id: number | null;
    readonly account: string | null;
  }[];
}

/** A draft with its ETag, which a publication of this very draft names. */
export interface TaggedDraft {
  readonly draft: RemoteDraft;
  readonly tag: string | null;
}

/** Reads the draft. */
export async function readDraft(domain: string, access: ServerAccess): Promise<TaggedDraft> {
  // As many changes as a page has.
  const path = domainPath(domain, '/draft?limit=1000');
  const { body, headers } = await callDomainApi(domain, access, { method: 'GET', path });
  return { draft: body as RemoteDraft, tag: headers.get('etag') };
}

/** Publishes the draft with this tag, and waits until its revision is out. */
export async function publishDraft(
  domain: string,
  access: ServerAccess,
  tag: string | null,
): Promise<ApiResponse> {
  const path = domainPath(domain, '/draft/publish?wait=published');
  const condition = tag === null ? {} : { ifMatch: tag };
  return callDomainApi(domain, access, { method: 'POST', path, ...condition });
}

// `apply` to a domain that publishes by hand: changes of rules wait in its draft; with `--publish` the draft is published after
// them. A draft that others have begun is never published along the way.

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

// Reads, requires and proves the invariants of a domain over the API: the actions of `draft require` and `draft prove`.

/** The options of both, as commander parses them. */
interface InvariantFlags extends ServerAccess {
  readonly json?: boolean;
}

/** What the API answers about one invariant. */
interface RemoteProof {
  readonly name: string;
  readonly claim: string;
  readonly result: 'proved' | 'broken' | 'empty' | 'unknown';
  readonly outcome: string | null;
  readonly command: string | null;
  readonly open: string | null;
}

/** Shows the invariants of a domain, or requires those of test files. */
export async function requireInvariants(
  domain: string,
  files: readonly string[],
  { json, none = false, ...access }: InvariantFlags & { readonly none?: boolean },
): Promise<void> {
  if (none && files.length > 0)
    throw usageFault('--none removes what files would require', 'leave one of them out');
  const path = domainPath(domain, '/invariants');
  const isChange = none || files.length > 0;
  const body = { invariants: isChange ? await readInvariants(files) : [] };
  const answer = await callDomainApi(
    domain,
    access,
    isChange ? { method: 'PUT', path, body } : { method: 'GET', path },
  );
  const { invariants } = answer.body as { readonly invariants: readonly { readonly name: string }[] };
  if (json === true) {
    await writeDocument('invariants', { domain, invariants });
    return;
  }
  const head =
    invariants.length === 0
      ? `${domain} requires no invariants of its drafts`
      : `${domain} requires ${quantity(invariants.length, 'invariant')} of its drafts:`;
  await write([head, ...invariants.map(({ name }) => `  ${visible(name)}`), ''].join('\n'));
}

/** The invariants of test files, as they are written. @throws CommandFault */
async function readInvariants(files: readonly string[]): Promise<readonly unknown[]> {
  if (files.length === 0) return [];
  const { invariants } = await readTests(files, { texts: new Map(), colour: 'auto' });
  if (invariants.length === 0)
    throw usageFault('the files have no invariants', 'write `invariants:` into one of them, or use --none');
  return invariants.map(({ written }) => written);
}

/** Proves the invariants of a domain for its draft; exit code 1 when one does not hold. */
export async function proveRemotely(domain: string, { json, ...access }: InvariantFlags): Promise<void> {
  const path = domainPath(domain, '/invariants/proof');
  const { body } = await callDomainApi(domain, access, { method: 'GET', path });
  const { holds, invariants } = body as {
    readonly holds: boolean;
    readonly invariants: readonly RemoteProof[];
  };
  if (json === true) await writeDocument('invariants-proof', { domain, holds, invariants });
  else if (invariants.length === 0) await write(`${domain} requires no invariants of its drafts\n`);
  else await write(`${invariants.flatMap(proofLines).map(visible).join('\n')}\n`);
  if (!holds) process.exitCode = EXIT.no;
}

function proofLines({ name, claim, result, outcome, command, open }: RemoteProof): readonly string[] {
  switch (result) {
    case 'proved':
      return [`  ✔ ${name}   proved: ${claim}`];
    case 'broken':
      return [`  ✘ ${name}`, `      ${command}`, `      claimed   ${claim}`, `      got       ${outcome}`];
    case 'empty':
      return [`  ✘ ${name}`, '      no request that the domain serves is meant'];
    default:
      return [`  ✘ ${name}`, `      not decided within the budget: ${open}`];
  }
}
