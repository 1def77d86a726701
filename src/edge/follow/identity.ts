/**
 * Whom the node believes, kept beside the plans: the public key is taken from the operator, or else from the control
 * plane at the first meeting and held to from then on. The clearance secret of servers that have one for all domains is
 * kept too, so that visitors stay cleared over a restart without a control plane, and the one before it, so that they stay
 * so while it changes.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Clearance, SignedSelf } from '../../plan/manifest.ts';
import { putLasting } from '../safe-file.ts';
import { createTrust, type Trust, TrustFault } from './trust.ts';

export interface Identity {
  /** `null`: the control plane was never met, and the operator named no key. */
  readonly trust: Trust | null;
  /** Of domains whose entry has none: the server is of a release with one secret for all domains. */
  readonly clearance: Clearance | null;
  /** This node's number and name; `null`: never met. */
  readonly node: { readonly id: number; readonly name: string } | null;
  /** The highest epoch of the manifest that was met; a lower one is the past. */
  readonly epoch: number;
  /** The disk says exactly this. */
  readonly kept: boolean;
  /** Why nobody is believed, although somebody was once: what was kept of it is damaged. */
  readonly fault: string | null;
}

const FORMAT = 'edgeplan.control/v1';

/**
 * What was kept; a key named by the operator takes the place of the kept one.
 * @throws TrustFault when the key that is named is none; the system's error when what was kept cannot be read
 */
export function readIdentity(directory: string, pinned: string | null): Identity {
  const file = join(directory, 'control.json');
  const read = readKept(file);
  const kept = read ?? NEVER_MET;
  const publicKey = pinned ?? kept.public_key;
  return {
    trust: publicKey === null ? null : createTrust(publicKey),
    clearance: kept.clearance === null ? null : sharedOf(kept.clearance, kept.previous_clearance),
    node: kept.id === null || kept.name === null ? null : { id: kept.id, name: kept.name },
    epoch: publicKey === kept.public_key ? kept.epoch : 0,
    kept: read !== null && publicKey === kept.public_key,
    // Else whoever comes first would be believed.
    fault: read === null && pinned === null ? damageOf(file) : null,
  };
}

/** A server with one secret for all domains does not say until when the one before is accepted. */
function sharedOf(current: string, before: string | null): Clearance {
  const previous = before === null ? [] : [{ secret: before, until: Number.MAX_SAFE_INTEGER }];
  return { current, previous };
}

/**
 * The identity after a meeting, kept when it changed.
 * @throws TrustFault when the control plane has another key than the one held to; the system's error when it cannot be kept
 */
export async function meet(directory: string, before: Identity, self: SignedSelf): Promise<Identity> {
  const { trust, fault } = before;
  if (fault !== null) throw new TrustFault(fault);
  const met = createTrust(self.public_key);
  if (trust !== null && trust.keyId !== met.keyId) {
    throw new TrustFault(
      `the control plane signs with the key \`${met.keyId}\`, this node holds to \`${trust.keyId}\`; if it was set up anew, name its key with --trust`,
    );
  }
  met.check(self);
  const { clearance, node, epoch } = before;
  const same = clearance !== null && clearance.current === self.clearance;
  if (before.kept && trust !== null && same && node?.id === self.id && node.name === self.name) return before;
  const after: Identity = {
    trust: trust ?? met,
    clearance: same ? clearance : sharedOf(self.clearance, clearance?.current ?? null),
    node: { id: self.id, name: self.name },
    epoch,
    kept: true,
    fault: null,
  };
  await putLasting(join(directory, 'control.json'), keptText(after));
  return after;
}

/** The identity in a higher epoch, on the disk. @throws the system's error when it cannot be written */
export async function enterEpoch(directory: string, before: Identity, epoch: number): Promise<Identity> {
  const after = { ...before, epoch };
  await putLasting(join(directory, 'control.json'), keptText(after));
  return after;
}

interface Kept {
  readonly public_key: string | null;
  readonly clearance: string | null;
  readonly previous_clearance: string | null;
  readonly id: number | null;
  readonly name: string | null;
  readonly epoch: number;
}

const NEVER_MET: Kept = {
  public_key: null,
  clearance: null,
  previous_clearance: null,
  id: null,
  name: null,
  epoch: 0,
};

function keptText({ trust, clearance, node, epoch }: Identity): string {
  const kept: Kept = {
    public_key: trust?.publicKey ?? null,
    clearance: clearance?.current ?? null,
    previous_clearance: clearance?.previous[0]?.secret ?? null,
    id: node?.id ?? null,
    name: node?.name ?? null,
    epoch,
  };
  return `${JSON.stringify({ format: FORMAT, ...kept }, null, 2)}\n`;
}

function damageOf(file: string): string {
  return `\`${file}\` is damaged, so whom to believe is not known; name the control plane's key with --trust`;
}

/** `null`: damaged. */
function readKept(file: string): Kept | null {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return NEVER_MET;
  }
  return parse(text);
}

function parse(text: string): Kept | null {
  try {
    // Files of versions before epochs have none.
    const { format, epoch = 0, ...rest } = JSON.parse(text);
    const kept: Kept = { ...rest, epoch };
    const texts = [kept.public_key, kept.clearance, kept.previous_clearance, kept.name];
    const whole = texts.every((value) => value === null || typeof value === 'string');
    if (
      format !== FORMAT ||
      !whole ||
      !Number.isSafeInteger(epoch) ||
      !(kept.id === null || Number.isSafeInteger(kept.id))
    )
      return null;
    if (kept.public_key !== null) createTrust(kept.public_key);
    return kept;
  } catch {
    // Not JSON, or the key is none: damaged, which the caller tells.
    return null;
  }
}
