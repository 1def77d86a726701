/**
 * The node's relation to its control plane: which key it trusts, which epoch and groups it follows. Every answer that
 * changes this is checked here and stored before it takes effect. The state is a plain object; one `ControlSession` per node.
 */
import type { Clearance, ManifestPage, SignedTransition } from '../../engine/plan/manifest.ts';
import type { PurgeAnswer } from '../../engine/plan/purges.ts';
import type { ControlPlaneClient } from './control-plane.ts';
import { errorMessage, type SyncLog } from './log.ts';
import { groupsIn, type Trust, TrustFault } from './trust.ts';
import { enterEpoch, enterGroups, type Identity, succeed, trustAtFirstUse } from './trusted-key.ts';

export interface ControlSessionOptions {
  readonly control: Pick<ControlPlaneClient, 'self'>;
  /** The folder that the identity is stored in. */
  readonly directory: string;
  readonly log: SyncLog;
  /** Called with the secret for clearances whenever the control plane changes it. */
  readonly onSecret: (clearance: Clearance) => void;
  /** Called when the control plane answered who this node is. */
  readonly onAnswer: () => void;
  /** Called when the groups of this node are others than those whose names are installed. */
  readonly onGroupsChanged: () => void;
}

export interface ControlSession extends ControlSessionOptions {
  /** As stored. */
  identity: Identity;
  /** The groups of this node, by the last answer of the control plane. */
  groups: string;
  /** Number of changes of `groups`. */
  moves: number;
  /** Ends with the last change of the identity; changes run one after the other. */
  changing: Promise<unknown>;
  /** The running introduction: there is one at a time. */
  introducing: Promise<void> | null;
}

export function createSession(identity: Identity, options: ControlSessionOptions): ControlSession {
  return {
    ...options,
    identity,
    groups: identity.groups,
    moves: 0,
    changing: Promise.resolve(),
    introducing: null,
  };
}

/** The epoch of a page; 0 if the control plane is of a release without epochs. */
export function epochOf({ epoch = 0 }: ManifestPage): number {
  return epoch;
}

/**
 * The history that revisions and purge epochs belong to, as `JournaledPlan.keyId`: those of another key, or of another
 * epoch, are not comparable. A key that a transition led to continues the history of the key before.
 */
export function historyOf(identity: Identity): string {
  const history = identity.history ?? trustOf(identity).keyId;
  return identity.epoch === 0 ? history : `${history}.${identity.epoch}`;
}

/** @throws TrustFault before the first introduction: without a key nothing of a control plane is read */
function trustOf({ trust }: Identity): Trust {
  if (trust === null) throw new TrustFault('the control plane was never met');
  return trust;
}

/**
 * Asks the control plane who this node is, and checks that it has the trusted key or one that transitions lead to.
 * @throws TrustFault when it has another key; ControlPlaneFault; the system's error when the answer cannot be stored
 */
export function introduce(session: ControlSession): Promise<void> {
  session.introducing ??= askIdentity(session).finally(() => {
    session.introducing = null;
  });
  return session.introducing;
}

async function askIdentity(session: ControlSession): Promise<void> {
  const before = session.identity.clearance;
  const self = await session.control.self();
  await changeIdentity(session, (known) => trustAtFirstUse(session.directory, known, self));
  session.onAnswer();
  noteGroups(session, groupsIn(self)!);
  const { clearance } = session.identity;
  if (clearance !== null && clearance.current !== before?.current) session.onSecret(clearance);
}

/** Records the groups of this node; the next comparison removes names of other groups. */
function noteGroups(session: ControlSession, groups: string): void {
  if (groups === session.groups) return;
  const before = session.groups;
  session.log.info({ before, groups }, 'this node is in other groups; all of its manifest is read');
  session.groups = groups;
  session.moves++;
  session.onGroupsChanged();
}

/** Runs changes one after the other. @throws what `next` throws; the identity is unchanged then */
function changeIdentity(
  session: ControlSession,
  next: (before: Identity) => Promise<Identity>,
): Promise<void> {
  const done = session.changing.then(async () => {
    const before = session.identity.trust?.keyId;
    session.identity = await next(session.identity);
    const after = session.identity.trust?.keyId;
    if (before === undefined || before === after) return;
    session.log.warn(
      { before, key: after },
      'the key of the control plane was rotated; the new one is trusted',
    );
  });
  session.changing = done.catch(() => undefined);
  return done;
}

/**
 * Reads a page that is signed by the trusted key, of this node's groups, and of its epoch or a later one.
 * @throws TrustFault
 */
export function readPage(session: ControlSession, text: string): ManifestPage {
  const { page, transitions } = trustOf(session.identity).read(text);
  followTransitions(session, transitions);
  const pageGroups = groupsIn(page);
  if (pageGroups !== session.groups) {
    session.onGroupsChanged();
    throw new TrustFault(
      `the page is of the groups \`${pageGroups}\`, this node is in \`${session.groups}\`; asking the control plane for them`,
    );
  }
  const epoch = epochOf(page);
  if (epoch >= session.identity.epoch) return page;
  throw new TrustFault(
    `the page is of epoch ${epoch}, this node follows ${session.identity.epoch}: an answer from the past, or a server on a database that was restored without \`edgeplan restore\``,
  );
}

/** Reads purges that the trusted key signed, of this node's epoch or a later one. @throws TrustFault */
export function readPurges(session: ControlSession, text: string): PurgeAnswer {
  const answer = trustOf(session.identity).readPurges(text);
  if (answer.epoch >= session.identity.epoch) return answer;
  throw new TrustFault(
    `the purges are of epoch ${answer.epoch}, this node follows ${session.identity.epoch}: an answer from the past`,
  );
}

/** Trusts the key that transitions lead to, in the background. @throws TrustFault when one of them is not signed right */
function followTransitions(session: ControlSession, transitions: readonly SignedTransition[]): void {
  const trust = trustOf(session.identity);
  if (trust.succeed(transitions).trust.keyId === trust.keyId) return;
  const { directory, log } = session;
  changeIdentity(session, (before) => succeed(directory, before, transitions)).catch((error: unknown) => {
    log.warn(
      { err: errorMessage(error) },
      'the new key of the control plane cannot be stored; it is tried again',
    );
  });
}

/** Stores a higher epoch. @throws the system's error when it cannot be written */
export function storeEpoch(session: ControlSession, epoch: number): Promise<void> {
  return changeIdentity(session, (before) => enterEpoch(session.directory, before, epoch));
}

/** Stores that exactly the names of these groups are installed. @throws the system's error when it cannot be written */
export function storeGroups(session: ControlSession, groups: string): Promise<void> {
  return changeIdentity(session, (before) => enterGroups(session.directory, before, groups));
}
