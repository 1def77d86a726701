/**
 * Delivers notifications: claims deliveries that are due, for each channel as many as it has places, sends each, and stores
 * the outcome. Several processes may run one worker each on the same store: a claim has a lease, so one process attempts a
 * delivery, and after a crash another one repeats it under the same id (at least once).
 */
import { unreachable } from '../../base/diagnostics/assert.ts';
import { retryMs, withDeadline } from '../../base/platform/tasks.ts';
import { isStoreFault } from '../../base/storage/fault.ts';
import { type Entitlements, resolveEntitlements } from '../accounts/entitlements.ts';
import type { TierSlug } from '../accounts/tiers.ts';
import type { ClaimedDelivery, DeliveryOutcome } from '../store/repositories/notifications.ts';
import type { ReadTransaction, Store } from '../store/store.ts';
import { NOTIFY_CHANNELS, type NotifyChannel, type WebhookRow } from '../store/tables/notifications.ts';
import { publicId, readNotification } from './kinds.ts';
import {
  ATTEMPT_MS,
  ATTEMPTS_AT_ONCE,
  ATTEMPTS_PER_ACCOUNT,
  DELIVER_FOR_MS,
  LEASE_MS,
  POLL_MS,
  PROMPT_MS,
  RETRY,
  SLOW_ATTEMPTS,
} from './limits.ts';
import { type Message, retryLater, type Sender, type SendOutcome } from './outlet-options.ts';
import { linkTo } from './wording.ts';

/** The senders of one server; `null`: it has none. */
export interface Senders {
  readonly email: Sender<string> | null;
  readonly sms: Sender<string> | null;
  readonly webhook: Sender<WebhookRow>;
}

/** The log of the worker; a pino logger has this shape. */
export interface DeliveryLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}

/** What a worker is created with. */
export interface DeliveryOptions {
  readonly store: Store;
  readonly senders: Senders;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
  /** The tier of domains without a subscription. */
  readonly tier: TierSlug;
  /** Where customers read more, as `linkTo` takes it; `null`: nowhere. */
  readonly publicUrl: string | null;
  readonly log: DeliveryLog;
  /** Milliseconds between two looks. Default: `POLL_MS`. */
  readonly pollMs?: number;
  /** Called with each outcome, for metrics. */
  readonly onOutcome?: (channel: NotifyChannel, outcome: SendOutcome['kind'] | 'skipped') => void;
}

/** The worker of one process. */
export interface DeliveryWorker {
  start(): void;
  /** Claims nothing further, and ends the attempts under way: those of webhooks and SMS at once. */
  stop(): Promise<void>;
}

interface State extends DeliveryOptions {
  readonly stopping: AbortController;
  /** Attempts under way, by channel, the oldest first. */
  readonly running: Readonly<Record<NotifyChannel, Set<Attempt>>>;
  /** The look under way; `null`: none. */
  looking: Promise<void> | null;
  timer: NodeJS.Timeout | null;
}

/** One attempt under way. */
interface Attempt {
  /** It has taken longer than `PROMPT_MS`, and takes none of the places of `ATTEMPTS_AT_ONCE`. */
  isSlow: boolean;
  readonly ending: AbortController;
  readonly work: Promise<void>;
}

/** Creates a worker. */
export function createDeliveryWorker(options: DeliveryOptions): DeliveryWorker {
  const stopping = new AbortController();
  const state: State = {
    ...options,
    stopping,
    running: { email: new Set(), sms: new Set(), webhook: new Set() },
    looking: null,
    timer: null,
  };
  return {
    start: () => schedule(state, 0),
    async stop() {
      state.stopping.abort();
      if (state.timer !== null) clearTimeout(state.timer);
      await state.looking;
      for (const channel of NOTIFY_CHANNELS) for (const { ending } of state.running[channel]) ending.abort();
      await Promise.all(
        NOTIFY_CHANNELS.flatMap((channel) => [...state.running[channel]].map(({ work }) => work)),
      );
    },
  };
}

/** Looks for work in `afterMs`, in place of a look that is scheduled. */
function schedule(state: State, afterMs: number): void {
  if (state.stopping.signal.aborted) return;
  if (state.timer !== null) clearTimeout(state.timer);
  state.timer = setTimeout(() => {
    state.looking ??= look(state).finally(() => {
      state.looking = null;
      // Spread, so that several processes do not look at the same moment.
      schedule(state, (state.pollMs ?? POLL_MS) * (0.75 + Math.random() / 2));
    });
  }, afterMs);
}

/** Claims what is due, as far as there are places. Never rejects. */
async function look(state: State): Promise<void> {
  const { store, clock } = state;
  try {
    if (!(await store.latest.notifications.isDue(clock()))) return;
    for (const channel of NOTIFY_CHANNELS) {
      const limit = ATTEMPTS_AT_ONCE[channel] - promptOf(state, channel).length;
      if (limit <= 0 || state.stopping.signal.aborted) continue;
      const now = clock();
      const claim = { channel, now, until: now + LEASE_MS, limit, perAccount: ATTEMPTS_PER_ACCOUNT };
      const claimed = await store.write((tx) => tx.notifications.claim(claim));
      for (const delivery of claimed) begin(state, delivery);
    }
  } catch (error) {
    reportStore(state, error);
  }
}

function promptOf({ running }: State, channel: NotifyChannel): readonly Attempt[] {
  return [...running[channel]].filter(({ isSlow }) => !isSlow);
}

/** Begins one attempt; the next look follows it at once, since its target may have more. */
function begin(state: State, delivery: ClaimedDelivery): void {
  const running = state.running[delivery.channel];
  const ending = new AbortController();
  const lookNow = (): void => {
    if (state.looking === null) schedule(state, 0);
  };
  const slow = setTimeout(() => {
    one.isSlow = true;
    const others = [...running].filter(({ isSlow }) => isSlow);
    if (others.length > SLOW_ATTEMPTS[delivery.channel]) others[0]!.ending.abort();
    lookNow();
  }, PROMPT_MS);
  const work = attempt(state, delivery, ending.signal)
    .catch((error: unknown) => reportStore(state, error))
    .finally(() => {
      clearTimeout(slow);
      running.delete(one);
      lookNow();
    });
  const one: Attempt = { isSlow: false, ending, work };
  running.add(one);
}

/** A fault of the store: the lease of a claim ends, and the delivery is attempted again. */
function reportStore({ log }: State, error: unknown): void {
  if (!isStoreFault(error, 'closed')) log.warn({ err: error }, 'notifications: the store failed; will retry');
}

/** Why a delivery is not attempted. */
interface Skipped {
  readonly kind: 'skipped';
  readonly reason: string;
}

/** Sends one delivery and stores the outcome. @throws StoreFault */
async function attempt(state: State, delivery: ClaimedDelivery, ending: AbortSignal): Promise<void> {
  const outcome = await send(state, delivery, ending);
  const now = state.clock();
  const settled = settledBy(delivery, outcome, now);
  const stopped = state.stopping.signal.aborted && outcome.kind === 'retry';
  const result = stopped ? { ...settled, state: 'waiting' as const, next_at: now } : settled;
  await state.store.write(async ({ notifications }) => {
    await notifications.settle(result);
    // A target that has failed is asked once, not once for each notification that waits for it.
    if (outcome.kind === 'retry' && !stopped) await notifications.postpone(delivery, settled.next_at);
    if (outcome.kind === 'delivered') await notifications.hasten(delivery, now);
  });
  const { notification, channel, account_id, tries } = delivery;
  const fields = {
    notification: publicId(notification),
    kind: notification.kind,
    channel,
    account_id,
    tries,
  };
  state.onOutcome?.(channel, outcome.kind);
  if (outcome.kind === 'delivered') state.log.info(fields, 'notification delivered');
  else state.log.warn({ ...fields, reason: outcome.reason }, `notification: ${result.state}`);
}

/** The row after an attempt. A delivery that is still refused after `DELIVER_FOR_MS` has failed. */
function settledBy(
  { id, tries, created_at }: ClaimedDelivery,
  outcome: SendOutcome | Skipped,
  now: number,
): DeliveryOutcome {
  const common = { id, tries, next_at: now, delivered_at: null };
  switch (outcome.kind) {
    case 'delivered':
      return { ...common, state: 'delivered', last_error: '', delivered_at: now };
    case 'refused':
      return { ...common, state: 'failed', last_error: outcome.reason };
    case 'skipped':
      return { ...common, state: 'skipped', last_error: outcome.reason };
    case 'retry': {
      const next_at = Math.round(now + retryMs(tries - 1, RETRY));
      const state = next_at > created_at + DELIVER_FOR_MS ? 'failed' : 'waiting';
      return { ...common, state, next_at, last_error: outcome.reason };
    }
    default:
      return unreachable(outcome);
  }
}

/** Finds the target of a delivery and sends it there. @throws StoreFault */
async function send(
  state: State,
  delivery: ClaimedDelivery,
  ending: AbortSignal,
): Promise<SendOutcome | Skipped> {
  const { store, senders } = state;
  const { account_id, channel, target_id } = delivery;
  const account = await store.latest.accounts.get(account_id);
  if (account?.active !== true) return skip('the account is inactive');
  const message = messageOf(delivery, { account: account.name, publicUrl: state.publicUrl });
  const within = <To>(sender: Sender<To>, to: To): Promise<SendOutcome> =>
    withDeadline(ATTEMPT_MS, ending, (signal) => orLate(sender(to, message, signal), signal));
  if (channel === 'webhook') {
    const hook = await store.latest.contacts.webhook(account_id, target_id);
    return hook === null ? skip('the webhook was removed') : within(senders.webhook, hook);
  }
  const sender = senders[channel];
  if (sender === null)
    return skip(channel === 'email' ? 'this server sends no e-mail' : 'this server sends no SMS');
  const address = (await store.latest.contacts.get(account_id, channel))?.address ?? '';
  if (address === '') return skip('the address was removed');
  if (channel === 'sms' && !(await includesSms(store.latest, { ...delivery.notification, ...state })))
    return skip('the plan includes no SMS');
  return within(sender, address);
}

function skip(reason: string): Skipped {
  return { kind: 'skipped', reason };
}

/** The outcome of a sender, or that of a lack of time: what a sender waits for may not notice its signal. */
function orLate(sending: Promise<SendOutcome>, signal: AbortSignal): Promise<SendOutcome> {
  const late = new Promise<SendOutcome>((resolve) => {
    signal.addEventListener('abort', () => resolve(retryLater('no answer in time')), { once: true });
  });
  return Promise.race([sending, late]);
}

/** The message of a delivery. */
function messageOf(
  { notification }: ClaimedDelivery,
  { account, publicUrl }: { readonly account: string; readonly publicUrl: string | null },
): Message {
  const { kind, data, letter } = readNotification(notification);
  const domain = notification.domain === '' ? null : notification.domain;
  return {
    letter,
    envelope: {
      severity: kind?.severity ?? 'info',
      account,
      link: publicUrl === null ? null : linkTo(publicUrl, domain),
      kind: notification.kind,
      id: publicId(notification),
    },
    kind: notification.kind,
    domain,
    data,
    at: notification.created_at,
  };
}

/** Whose SMS it is. */
export interface SmsQuestion {
  readonly account_id: number;
  /** The domain that it is about; `null`: any of the account's. */
  readonly domain_id: number | null;
  readonly tier: TierSlug;
  readonly clock: () => number;
}

/** Whether the plan of the domain (of any domain of the account) includes SMS (API document, "Notes"). */
export async function includesSms(
  tx: ReadTransaction,
  { account_id, domain_id, tier, clock }: SmsQuestion,
): Promise<boolean> {
  const seen = domain_id === null ? await tx.domains.listSeenBy(account_id) : [];
  const own = seen.flatMap(({ domain, role }) => (role === 'owner' ? [domain] : []));
  const named = domain_id === null ? null : await tx.domains.get(domain_id);
  for (const domain of named === null ? own : [named]) {
    const subscription = await tx.subscriptions.get(domain.id);
    const has: Entitlements = resolveEntitlements({ domain, subscription, fallback: tier, now: clock() });
    if (has.uptime_sms_enabled) return true;
  }
  return false;
}
