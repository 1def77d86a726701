/** `edgeplan subscription`: what a domain has bought, and whether it is paused for billing. For operators alone. */
import { Command, InvalidArgumentError, Option } from 'commander';
import { inForce } from '../../access/entitlements.ts';
import {
  changeSubscription,
  type Override,
  readOverride,
  removeSubscription,
  type ShownSubscription,
  showSubscription,
} from '../../access/subscriptions.ts';
import { TIER_SLUGS, type TierSlug } from '../../access/tiers.ts';
import { applyEvent } from '../../lifecycle/apply-event.ts';
import type { DomainRow, SubscriptionRow } from '../../store/rows.ts';
import { SERVICE } from '../../store/store.ts';
import { CommandFault, EXIT, usageFault } from '../exit.ts';
import type { StoreFlags } from '../open-data.ts';
import { write } from '../output.ts';
import { findDomain, withData, withStore } from '../with-store.ts';

const STATES = ['active', 'suspended'] as const;

const EVENTS = { active: { kind: 'resume' }, suspended: { kind: 'suspend' } } as const;

interface SetFlags extends StoreFlags {
  readonly tier?: TierSlug;
  readonly override?: readonly Override[];
  readonly until?: number | null;
  readonly state?: (typeof STATES)[number];
}

interface ShowFlags extends StoreFlags {
  readonly json?: boolean;
}

interface Shown {
  readonly domain: string;
  readonly state: (typeof STATES)[number];
  readonly suspended_since: string | null;
  /** `null`: the domain is on the tier that the server gives everybody. */
  readonly subscription: (ShownSubscription & { readonly in_force: boolean }) | null;
}

function shown(domain: DomainRow, subscription: SubscriptionRow | null): Shown {
  const { name, suspended, suspended_at } = domain;
  return {
    domain: name,
    state: suspended ? 'suspended' : 'active',
    suspended_since: suspended_at === null ? null : new Date(suspended_at).toISOString(),
    subscription:
      subscription === null
        ? null
        : { ...showSubscription(subscription), in_force: inForce(subscription, Date.now()) },
  };
}

function shownText({ domain, state, suspended_since, subscription }: Shown): string {
  const since = suspended_since === null ? '' : ` since ${suspended_since}: the edge refuses its visitors`;
  const lines = [`domain     ${domain}`, `state      ${state}${since}`];
  if (subscription === null) lines.push('tier       none of its own: what serve --tier says');
  else {
    const { tier, until, overrides, in_force } = subscription;
    lines.push(`tier       ${tier}${in_force ? '' : ', not in force: what serve --tier says holds instead'}`);
    lines.push(`until      ${until ?? 'without an end'}`);
    const differing = Object.entries(overrides).map(([name, value]) => `${name}=${overrideText(value)}`);
    lines.push(`overrides  ${differing.length === 0 ? 'none' : differing.join(' ')}`);
  }
  return `${lines.join('\n')}\n`;
}

function overrideText(value: unknown): string {
  if (value === null) return 'unlimited';
  return Array.isArray(value) ? value.join(',') || 'none' : String(value);
}

async function show(name: string, flags: ShowFlags): Promise<void> {
  const found = await withData(flags, (store) =>
    store.read(async (tx) => {
      const domain = await findDomain(tx, name);
      return shown(domain, await tx.subscriptions.get(domain.id));
    }),
  );
  await write(flags.json === true ? `${JSON.stringify(found, null, 2)}\n` : shownText(found));
}

async function set(name: string, flags: SetFlags): Promise<void> {
  const { tier, override, until, state } = flags;
  const bought = tier !== undefined || override !== undefined || until !== undefined;
  if (!bought && state === undefined)
    throw usageFault('nothing was said to change', 'give --tier, --override, --until or --state');
  const found = await withData(flags, (store) =>
    store.write(async (tx) => {
      const now = Date.now();
      const domain = await findDomain(tx, name);
      if (bought) {
        const change = {
          ...(tier === undefined ? {} : { tier }),
          ...(override === undefined ? {} : { overrides: override }),
          ...(until === undefined ? {} : { until }),
        };
        const outcome = await changeSubscription(tx, domain, { ...change, now });
        if (!outcome.ok) throw new CommandFault(EXIT.no, outcome.reason, { remedy: '--tier names it' });
      }
      const event = state === undefined ? null : EVENTS[state];
      const author = { author: SERVICE, now };
      const after = event === null ? domain : (await applyEvent(tx, domain, event, author)).domain;
      return shown(after, await tx.subscriptions.get(domain.id));
    }),
  );
  await write(shownText(found));
}

async function remove(name: string, flags: StoreFlags): Promise<void> {
  const removed = await withData(flags, (store) =>
    store.write(async (tx) => removeSubscription(tx, await findDomain(tx, name), Date.now())),
  );
  if (!removed) throw new CommandFault(EXIT.no, `\`${name}\` has no subscription`);
  await write(`${name} has no subscription any more: what serve --tier says holds\n`);
}

function gatherOverrides(text: string, gathered: readonly Override[] | undefined): readonly Override[] {
  const read = readOverride(text);
  if (!read.ok) throw new InvalidArgumentError(read.reason.endsWith('?') ? read.reason : `${read.reason}.`);
  return [...(gathered ?? []), read.value];
}

function readUntil(text: string): number | null {
  if (text === 'none') return null;
  const at = /^\d{4}-\d\d-\d\d(?:T.+)?$/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isFinite(at)) return at;
  throw new InvalidArgumentError('write 2027-01-31, 2027-01-31T12:00:00Z, or none for no end.');
}

/** The command, to be added to a program. */
export function subscriptionCommand(): Command {
  return new Command('subscription')
    .description('Show and set what a domain may use, and pause it; works beside a running server.')
    .addCommand(
      withStore(new Command('show').description('Show what a domain has bought.').argument('<domain>'))
        .option('--json', 'print a JSON object')
        .action(show),
    )
    .addCommand(
      withStore(new Command('set').description('Change it; what is not named stays.').argument('<domain>'))
        .addOption(new Option('--tier <slug>', 'what it may use').choices(TIER_SLUGS))
        .addOption(
          new Option(
            '--override <feature=value>',
            "one thing that differs from the tier, named as the API's features; may be given again; feature= undoes it",
          ).argParser(gatherOverrides),
        )
        .addOption(new Option('--until <time>', 'when it ends, or none').argParser(readUntil))
        .addOption(
          new Option('--state <state>', 'suspended: paused for billing, published at once').choices(STATES),
        )
        .action(set),
    )
    .addCommand(
      withStore(
        new Command('remove')
          .description("Put the domain on the server's own tier again.")
          .argument('<domain>'),
      ).action(remove),
    );
}
