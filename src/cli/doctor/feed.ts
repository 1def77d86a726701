/** Checks the control plane of a node: it is reachable, accepts the token, and signs with a key that the node trusts. */
import { ControlPlaneFault, createControl } from '../../edge/following/control-plane.ts';
import { epochOf } from '../../edge/following/session.ts';
import { createTrust, readTransitions, TrustFault } from '../../edge/following/trust.ts';
import { openTokenFile } from '../token-file.ts';
import { type Check, type CheckFinding, type DoctorFlags, reasonText } from './check.ts';

/** Milliseconds for an answer of the control plane. */
export const CONTROL_MS = 10_000;

/** The node token; `null`: none was given. @throws CommandFault when the file has none */
function tokenOf({ token, tokenFile }: DoctorFlags): string | null {
  if (tokenFile === undefined) return token ?? null;
  return openTokenFile(tokenFile, () => undefined).read();
}

/** What a failed request means, and what to do about it. */
function failureOf(error: unknown, control: string): CheckFinding {
  if (error instanceof TrustFault) {
    const remedy = 'edgeplan signing-key show prints the key; give it with --trust';
    return { state: 'failure', found: error.message, remedy };
  }
  if (!(error instanceof ControlPlaneFault)) return { state: 'failure', found: reasonText(error) };
  const { found, remedy } = describe(error, control);
  return { state: 'failure', found: found ?? error.message, remedy };
}

function describe(
  { code }: ControlPlaneFault,
  control: string,
): { readonly found?: string; readonly remedy: string } {
  switch (code) {
    case 'away':
      return { remedy: 'start edgeplan serve there, check --control, and let this machine reach it' };
    case 'missing':
      return {
        found: `\`${control}\` answers and is no control plane: it has no /nodes/self (404)`,
        remedy: 'check the address, the port and the path of --control: serve has the API on --port (8787)',
      };
    case 'token':
      return {
        found: 'the control plane refuses this node token',
        remedy:
          'edgeplan node-token create or rotate makes one; give it with --token-file or EDGEPLAN_NODE_TOKEN',
      };
    case 'answer':
      return { remedy: 'check the address and the port of --control, and whether a proxy changes responses' };
    default:
      return code satisfies never;
  }
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
      return [failureOf(error, control)];
    }
  },
};
