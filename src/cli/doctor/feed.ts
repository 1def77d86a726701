/** Checks the control plane of a node: it is reachable, accepts the token, and signs with a key that the node trusts. */
import { ControlPlaneFault, createControl } from '../../sync/control-plane.ts';
import { epochOf } from '../../sync/session.ts';
import { createTrust, readTransitions, TrustFault } from '../../sync/trust.ts';
import { openTokenFile } from '../token-file.ts';
import { type Check, type CheckFinding, type DoctorFlags, reasonText } from './check.ts';

/** Milliseconds for an answer of the control plane. */
export const CONTROL_MS = 10_000;

/** The node token; `null`: none was given. @throws CommandFault when the file has none */
function tokenOf({ token, tokenFile }: DoctorFlags): string | null {
  if (tokenFile === undefined) return token ?? null;
  return openTokenFile(tokenFile, () => undefined).read();
}

/** What to do about a failed request. */
function remedyOf(error: unknown): string | undefined {
  if (error instanceof TrustFault) {
    return 'edgeplan signing-key show prints the key; give it with --trust';
  }
  if (!(error instanceof ControlPlaneFault)) return undefined;
  if (error.code === 'away')
    return 'start edgeplan serve there, check --control, and let this machine reach it';
  return error.code === 'missing'
    ? 'the address has no feed of edgeplan: check the path of --control'
    : undefined;
}

/** Asks as a node does when it starts, and reads the first page of the manifest. */
async function ask(url: string, token: string, pinned: string | undefined): Promise<readonly CheckFinding[]> {
  const control = createControl({ url, token: () => token });
  const timeout = setTimeout(() => void control.close(), CONTROL_MS);
  try {
    const self = await control.self();
    const identity = `the control plane accepts the token of node ${self.id} \`${self.name}\``;
    const text = await control.page(0, 0);
    const first = createTrust(pinned ?? self.public_key);
    const { trust } = first.succeed(readTransitions(self.transitions));
    const { page } = trust.read(text);
    const key = `the manifest is signed with the key \`${trust.keyId}\`, in epoch ${epochOf(page)}`;
    const trusted =
      pinned === undefined
        ? `${key}; without --trust the first key is trusted`
        : `${key}, which --trust leads to`;
    return [
      { state: 'fine', found: identity },
      { state: 'fine', found: trusted },
    ];
  } finally {
    clearTimeout(timeout);
    await control.close();
  }
}

export const feed: Check = {
  name: 'feed',
  async run(flags) {
    const { control } = flags;
    if (control === undefined) return [{ state: 'skipped', found: 'no --control was given' }];
    try {
      const token = tokenOf(flags);
      if (token !== null) return await ask(control, token, flags.trust);
      const remedy = 'give the token with --token-file or EDGEPLAN_NODE_TOKEN';
      return [
        { state: 'failure', found: 'a control plane asks for a node token, and none was given', remedy },
      ];
    } catch (error) {
      const remedy = remedyOf(error);
      return [{ state: 'failure', found: reasonText(error), ...(remedy === undefined ? {} : { remedy }) }];
    }
  },
};
