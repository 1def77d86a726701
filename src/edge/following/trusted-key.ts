/**
 * The node's identity and the key it trusts, stored as `control.json` beside the plans. The key comes from the operator, or
 * from the control plane's first answer (trust on first use); later it changes only by transitions that the trusted key
 * signed. Also stored are the clearance secret of servers with one secret for all domains, so that clearances survive a
 * restart without a control plane, and the secret before it, so that they survive its rotation.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeDurably } from '../../base/platform/durable-file.ts';
import { DEFAULT_GROUP, readGroups } from '../../base/vocabulary/node-groups.ts';
import type { Clearance, NodeSelf, SignedSelf, SignedTransition } from '../../engine/plan/manifest.ts';
import { MAX_PASSED_KEYS, MAX_TRANSITIONS } from './limits.ts';
import { createTrust, readTransitions, type Trust, TrustFault } from './trust.ts';

/** What is stored, and the trusted key. */
export interface Identity {
  /** `null`: no control plane has answered yet, and the operator named no key. */
  readonly trust: Trust | null;
  /** The secret of domains whose entry has none: of servers with one secret for all domains. */
  readonly clearance: Clearance | null;
  /** This node's number and name; `null`: no control plane has answered yet. */
  readonly node: { readonly id: number; readonly name: string } | null;
  /** Public keys in base64 that were trusted before and led to this one by transitions, the oldest first. */
  readonly passed: readonly string[];
  /** Id of the first of those keys, which names the history of revisions; `null`: no key yet. */
  readonly history: string | null;
  /** The highest epoch of the manifest so far; pages of a lower one are refused. */
  readonly epoch: number;
  /** The groups whose names are installed, as `base/vocabulary/node-groups.ts` writes them. */
  readonly groups: string;
  /** Whether the file has exactly this. */
  readonly stored: boolean;
  /** Why the file is damaged, in which case no control plane is trusted; `null` if it is intact. */
  readonly fault: string | null;
}

const FORMAT = 'edgeplan.control/v1';

/**
 * Reads the stored identity. The operator's key replaces the stored key, unless transitions led from it to the stored one.
 * @param pinned the operator's key; `null`: none
 * @throws TrustFault when `pinned` is no key; the system's error when the file cannot be read
 */
export function readIdentity(directory: string, pinned: string | null): Identity {
  const file = join(directory, 'control.json');
  const read = readStored(file);
  const stored = read ?? EMPTY;
  const same = pinned === null || pinned === stored.public_key || stored.passed.includes(pinned);
  const publicKey = same ? stored.public_key : pinned;
  const trust = publicKey === null ? null : createTrust(publicKey);
  return {
    trust,
    passed: same ? stored.passed : [],
    history: (same ? stored.history : null) ?? trust?.keyId ?? null,
    clearance: stored.clearance === null ? null : sharedOf(stored.clearance, stored.previous_clearance),
    node: stored.id === null || stored.name === null ? null : { id: stored.id, name: stored.name },
    epoch: same ? stored.epoch : 0,
    groups: stored.groups,
    stored: read !== null && same,
    // Without the fault the next control plane would be trusted on first use.
    fault: read === null && pinned === null ? damageOf(file) : null,
  };
}

/** The clearance of a server with one secret for all domains; such a server sends no end for the secret before. */
function sharedOf(current: string, before: string | null): Clearance {
  const previous = before === null ? [] : [{ secret: before, until: Number.MAX_SAFE_INTEGER }];
  return { current, previous };
}

/**
 * The identity after an answer of the control plane; stored when it changed.
 * @throws TrustFault when the answer is signed by none of the keys that the trusted one leads to; the system's error when
 * it cannot be stored
 */
export async function trustAtFirstUse(
  directory: string,
  before: Identity,
  self: SignedSelf,
): Promise<Identity> {
  const { fault } = before;
  if (fault !== null) throw new TrustFault(fault);
  const { trust, passed, history } = afterTransitions(before, self.transitions);
  const signed = signedBy(trust, self);
  const signer = createTrust(signed.public_key);
  signer.check(signed);
  const { clearance, node, epoch, groups } = before;
  const same = clearance !== null && clearance.current === self.clearance;
  const known = before.stored && before.trust?.keyId === signer.keyId;
  if (known && same && node?.id === self.id && node.name === self.name) return before;
  const after: Identity = {
    trust: signer,
    passed,
    history: history ?? signer.keyId,
    clearance: same ? clearance : sharedOf(self.clearance, clearance?.current ?? null),
    node: { id: self.id, name: self.name },
    epoch,
    groups,
    stored: true,
    fault: null,
  };
  await writeDurably(join(directory, 'control.json'), storedText(after));
  return after;
}

/** The variant of an answer that the trusted key signed; without a trusted key, the newest one. @throws TrustFault */
function signedBy(trust: Trust | null, self: SignedSelf): NodeSelf & { readonly signature: string } {
  const others = Array.isArray(self.also) ? self.also.slice(0, MAX_TRANSITIONS) : [];
  const all = [self, ...others.map(({ public_key, signature }) => ({ ...self, public_key, signature }))];
  if (trust === null) return all.at(-1)!;
  const signed = all.find(({ public_key }) => public_key === trust.publicKey);
  if (signed !== undefined) return signed;
  const { keyId } = createTrust(self.public_key);
  throw new TrustFault(
    `the control plane signs with the key \`${keyId}\`, this node trusts \`${trust.keyId}\`, and no transition leads there; if the key was retired as compromised or the server was set up anew, name the key that \`edgeplan signing-key show\` prints with --trust`,
  );
}

/** The trusted key after transitions. @throws TrustFault when one on the way is not signed by the key before it */
function afterTransitions(
  before: Identity,
  transitions: unknown,
): Pick<Identity, 'trust' | 'passed' | 'history'> {
  const { trust, history } = before;
  if (trust === null) return before;
  const { trust: last, passed } = trust.succeed(readTransitions(transitions));
  return { trust: last, passed: [...before.passed, ...passed].slice(-MAX_PASSED_KEYS), history };
}

/**
 * Follows transitions to a newer key and stores the identity.
 * @throws TrustFault when one is not signed by the key before it; the system's error when it cannot be written
 */
export async function succeed(
  directory: string,
  before: Identity,
  transitions: readonly SignedTransition[],
): Promise<Identity> {
  const after = { ...before, ...afterTransitions(before, transitions), stored: true };
  if (after.trust?.keyId === before.trust?.keyId) return before;
  await writeDurably(join(directory, 'control.json'), storedText(after));
  return after;
}

/** Stores a higher epoch. @throws the system's error when it cannot be written */
export async function enterEpoch(directory: string, before: Identity, epoch: number): Promise<Identity> {
  const after = { ...before, epoch };
  await writeDurably(join(directory, 'control.json'), storedText(after));
  return after;
}

/** Stores that exactly the names of these groups are installed. @throws the system's error when it cannot be written */
export async function enterGroups(directory: string, before: Identity, groups: string): Promise<Identity> {
  const after = { ...before, groups };
  await writeDurably(join(directory, 'control.json'), storedText(after));
  return after;
}

/** The fields of `control.json`. */
interface StoredIdentity {
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

/** Before the first answer of a control plane. */
const EMPTY: StoredIdentity = {
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

function storedText({ trust, passed, history, clearance, node, epoch, groups }: Identity): string {
  const stored: StoredIdentity = {
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
  return `${JSON.stringify({ format: FORMAT, ...stored }, null, 2)}\n`;
}

function damageOf(file: string): string {
  return `\`${file}\` is damaged, so the trusted key is lost; name the control plane's key with --trust`;
}

/** Reads the file; `null`: it is damaged. */
function readStored(file: string): StoredIdentity | null {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return EMPTY;
  }
  return parseStored(text);
}

/** Checks the fields; `null`: the file is damaged. */
function parseStored(text: string): StoredIdentity | null {
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
    const stored: StoredIdentity = { ...rest, epoch, passed, history, groups };
    const texts = [
      stored.public_key,
      stored.history,
      stored.clearance,
      stored.previous_clearance,
      stored.name,
    ];
    const whole =
      texts.every((value) => value === null || typeof value === 'string') &&
      Array.isArray(passed) &&
      passed.every((value) => typeof value === 'string');
    if (
      format !== FORMAT ||
      !whole ||
      !Number.isSafeInteger(epoch) ||
      readGroups(String(groups)) !== groups ||
      !(stored.id === null || Number.isSafeInteger(stored.id))
    )
      return null;
    if (stored.public_key !== null) createTrust(stored.public_key);
    return stored;
  } catch {
    // Not JSON, or not a key: damaged, which the caller reports.
    return null;
  }
}
