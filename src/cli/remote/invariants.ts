/** Reads, requires and proves the invariants of a domain over the API: the actions of `draft require` and `draft prove`. */
import { quantity, visible } from '../../workbench/simulation/render-text.ts';
import { EXIT, usageFault } from '../exit.ts';
import { readTests } from '../input/test-files.ts';
import { write, writeDocument } from '../output.ts';
import type { ServerAccess } from './call-api.ts';
import { callDomainApi, domainPath } from './remote-domain.ts';

/** The options of both, as commander parses them. */
interface Flags extends ServerAccess {
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
  { json, none = false, ...access }: Flags & { readonly none?: boolean },
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
export async function proveRemotely(domain: string, { json, ...access }: Flags): Promise<void> {
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
