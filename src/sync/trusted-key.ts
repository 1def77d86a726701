/**
 * The key that the node trusts, stored beside the plans. It comes from the operator, or from the control plane at the first
 * meeting; later it changes only by transitions that the trusted key signed. Also stored are the clearance secret of
 * servers with one secret for all domains, so that visitors stay cleared over a restart without a control plane, and the
 * secret before it, so that they stay cleared while it changes.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DEFAULT_GROUP, readGroups } from '../base/node-groups.ts';
import type { Clearance, NodeSelf, SignedSelf, SignedTransition } from '../plan/manifest.ts';
import { writeDurably } from '../platform/durable-file.ts';
import { MAX_PASSED_KEYS, MAX_TRANSITIONS } from './limits.ts';
import { createTrust, readTransitions, type Trust, TrustFault } from './trust.ts';

export interface Identity {
  /** `null`: the control plane was never met, and the operator named no key. */
  readonly trust: Trust | null;
  /** Of domains whose entry has none: the server is of a release with one secret for all domains. */
  readonly clearance: Clearance | null;
  /** This node's number and name; `null`: never met. */
  readonly node: { readonly id: number; readonly name: string } | null;
  /** Keys that were trusted before and led to this one by transitions, the oldest first: public keys in base64. */
  readonly passed: readonly string[];
  /** The id of the first of those keys, which names the history that revisions are of; `null`: never met. */
  readonly history: string | null;
  /** The highest epoch of the manifest that was met; a lower one is the past. */
  readonly epoch: number;
  /** The groups, as `base/node-groups.ts` writes them, whose names were all read and are stored. */
  readonly groups: string;
  /** The disk says exactly this. */
  readonly kept: boolean;
  /** Why nobody is believed, although somebody was once: what was kept of it is damaged. */
  readonly fault: string | null;
}

const FORMAT = 'edgeplan.control/v1';

/**
 * The stored identity. A key named by the operator replaces the stored key, unless transitions led from it to that key.
 * @throws TrustFault when the key that is named is none; the system's error when what was kept cannot be read
 */
export function readIdentity(directory: string, pinned: string | null): Identity {
  const file = join(directory, 'control.json');
  const read = readKept(file);
  const kept = read ?? NEVER_MET;
  const same = pinned === null || pinned === kept.public_key || kept.passed.includes(pinned);
  const publicKey = same ? kept.public_key : pinned;
  const trust = publicKey === null ? null : createTrust(publicKey);
  return {
    trust,
    passed: same ? kept.passed : [],
    history: (same ? kept.history : null) ?? trust?.keyId ?? null,
    clearance: kept.clearance === null ? null : sharedOf(kept.clearance, kept.previous_clearance),
    node: kept.id === null || kept.name === null ? null : { id: kept.id, name: kept.name },
    epoch: same ? kept.epoch : 0,
    groups: kept.groups,
    kept: read !== null && same,
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
 * @throws TrustFault when the control plane signs with no key that the one held to leads to; the system's error when it
 * cannot be kept
 */
export async function trustAtFirstUse(
  directory: string,
  before: Identity,
  self: SignedSelf,
): Promise<Identity> {
  const { fault } = before;
  if (fault !== null) throw new TrustFault(fault);
  const { trust, passed, history } = succeeded(before, self.transitions);
  const signed = signedBy(trust, self);
  const met = createTrust(signed.public_key);
  met.check(signed);
  const { clearance, node, epoch, groups } = before;
  const same = clearance !== null && clearance.current === self.clearance;
  const known = before.kept && before.trust?.keyId === met.keyId;
  if (known && same && node?.id === self.id && node.name === self.name) return before;
  const after: Identity = {
    trust: met,
    passed,
    history: history ?? met.keyId,
    clearance: same ? clearance : sharedOf(self.clearance, clearance?.current ?? null),
    node: { id: self.id, name: self.name },
    epoch,
    groups,
    kept: true,
    fault: null,
  };
  await writeDurably(join(directory, 'control.json'), keptText(after));
  return after;
}

/** What the trusted key signed of an answer; at the first meeting, what the newest did. @throws TrustFault */
function signedBy(trust: Trust | null, self: SignedSelf): NodeSelf & { readonly signature: string } {
  const others = Array.isArray(self.also) ? self.also.slice(0, MAX_TRANSITIONS) : [];
  const all = [
    self,
    ...others.map((one) => ({ ...self, public_key: one.public_key, signature: one.signature })),
  ];
  if (trust === null) return all.at(-1)!;
  const found = all.find((one) => one.public_key === trust.publicKey);
  if (found !== undefined) return found;
  const { keyId } = createTrust(self.public_key);
  throw new TrustFault(
    `the control plane signs with the key \`${keyId}\`, this node holds to \`${trust.keyId}\`, and no transition leads there; if the key was retired as compromised or the server was set up anew, name the key that \`edgeplan signing-key show\` prints with --trust`,
  );
}

/** An identity's trust after transitions. @throws TrustFault when one of them on the way is not signed as it must be */
function succeeded(before: Identity, transitions: unknown): Pick<Identity, 'trust' | 'passed' | 'history'> {
  const { trust, history } = before;
  if (trust === null) return before;
  const { trust: last, passed } = trust.succeed(readTransitions(transitions));
  return { trust: last, passed: [...before.passed, ...passed].slice(-MAX_PASSED_KEYS), history };
}

/**
 * The identity once it has followed transitions to a newer key, kept.
 * @throws TrustFault when one of them is not signed as it must be; the system's error when it cannot be kept
 */
export async function succeed(
  directory: string,
  before: Identity,
  transitions: readonly SignedTransition[],
): Promise<Identity> {
  const after = { ...before, ...succeeded(before, transitions), kept: true };
  if (after.trust?.keyId === before.trust?.keyId) return before;
  await writeDurably(join(directory, 'control.json'), keptText(after));
  return after;
}

/** The identity in a higher epoch, on the disk. @throws the system's error when it cannot be written */
export async function enterEpoch(directory: string, before: Identity, epoch: number): Promise<Identity> {
  const after = { ...before, epoch };
  await writeDurably(join(directory, 'control.json'), keptText(after));
  return after;
}

/** The identity once the names of these groups alone are stored. @throws the system's error when it cannot be written */
export async function enterGroups(directory: string, before: Identity, groups: string): Promise<Identity> {
  const after = { ...before, groups };
  await writeDurably(join(directory, 'control.json'), keptText(after));
  return after;
}

interface Kept {
  readonly public_key: string | null;
  readonly passed: readonly string[];
  readonly history: string | null;
  readonly clearance: string | null;
  readonly previous_clearance: string | null;
  readonly id: number | null;
  readonly name: string | null;
  readonly epoch: number;
  readonly groups: string;
}

const NEVER_MET: Kept = {
  public_key: null,
  passed: [],
  history: null,
  clearance: null,
  previous_clearance: null,
  id: null,
  name: null,
  epoch: 0,
  groups: DEFAULT_GROUP,
};

function keptText({ trust, passed, history, clearance, node, epoch, groups }: Identity): string {
  const kept: Kept = {
    public_key: trust?.publicKey ?? null,
    passed,
    history,
    clearance: clearance?.current ?? null,
    previous_clearance: clearance?.previous[0]?.secret ?? null,
    id: node?.id ?? null,
    name: node?.name ?? null,
    epoch,
    groups,
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
    // Files of earlier releases have no epoch, no transitions of keys, or no groups.
    const {
      format,
      epoch = 0,
      passed = [],
      history = null,
      groups = DEFAULT_GROUP,
      ...rest
    } = JSON.parse(text);
    const kept: Kept = { ...rest, epoch, passed, history, groups };
    const texts = [kept.public_key, kept.history, kept.clearance, kept.previous_clearance, kept.name];
    const whole =
      texts.every((value) => value === null || typeof value === 'string') &&
      Array.isArray(passed) &&
      passed.every((value) => typeof value === 'string');
    if (
      format !== FORMAT ||
      !whole ||
      !Number.isSafeInteger(epoch) ||
      readGroups(String(groups)) !== groups ||
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
