/**
 * `edgeplan subscription`: shows and sets the subscription of a domain, and suspends it for billing. For operators
 * only.
 */
import { Command, InvalidArgumentError, Option } from 'commander';
import { allowancesOf, inForce } from '../../control/accounts/entitlements.ts';
import {
  changeSubscription,
  type Override,
  readOverride,
  removeSubscription,
  type ShownSubscription,
  showSubscription,
} from '../../control/accounts/subscriptions.ts';
import { type Allowances, TIER_SLUGS, type TierSlug } from '../../control/accounts/tiers.ts';
import { causeText, resumeDomain, suspendDomain } from '../../control/domains/suspensions.ts';
import type { ReadTransaction } from '../../control/store/store.ts';
import { SERVICE } from '../../control/store/tables/accounts.ts';
import type { SuspensionCause, SuspensionRow } from '../../control/store/tables/billing.ts';
import type { DomainRow, SubscriptionRow } from '../../control/store/tables/domains.ts';
import { type Examples, withExamples } from '../examples.ts';
import { CommandFault, EXIT, usageFault } from '../exit.ts';
import { findDomain, type StoreFlags, withData, withStore } from '../open-data.ts';
import { jsonOption } from '../options.ts';
import { jsonDocument, write } from '../output.ts';

/** The values of `--state`. */
const STATES = ['active', 'suspended'] as const;

/** The change for each state. The operator's suspension is one cause among others. */
const CHANGES = { active: resumeDomain, suspended: suspendDomain } as const;

/** Options of `set`, as commander parses them. */
interface SetFlags extends StoreFlags {
  /** The tier of the subscription. */
  readonly tier?: TierSlug;
  /** Features that differ from the tier. */
  readonly override?: readonly Override[];
  /** The end in milliseconds since the epoch; `null`: no end. */
  readonly until?: number | null;
  readonly state?: (typeof STATES)[number];
}

/** Options of `show`, as commander parses them. */
interface ShowFlags extends StoreFlags {
  /** Prints JSON. */
  readonly json?: boolean;
}

/** What is printed. */
interface Shown {
  readonly domain: string;
  readonly state: (typeof STATES)[number];
  readonly suspended_since: string | null;
  readonly suspended_for: readonly SuspensionCause[];
  /** `null`: the domain has the server's default tier. */
  readonly subscription: (ShownSubscription & { readonly in_force: boolean }) | null;
  /** What the tier allows, with the overrides; `null`: no subscription is in force, and the server's default applies. */
  readonly allowances: Allowances | null;
}

/** Reads what is printed of a domain. */
async function readShown(tx: ReadTransaction, domain: DomainRow): Promise<Shown> {
  const suspensions = await tx.suspensions.list(domain.id);
  return shown(domain, await tx.subscriptions.get(domain.id), suspensions);
}

/** A subscription as it is printed. */
function shown(
  domain: DomainRow,
  subscription: SubscriptionRow | null,
  suspensions: readonly SuspensionRow[],
): Shown {
  const { name, suspended, suspended_at } = domain;
  const now = Date.now();
  return {
    domain: name,
    state: suspended ? 'suspended' : 'active',
    suspended_since: suspended_at === null ? null : new Date(suspended_at).toISOString(),
    suspended_for: suspensions.map(({ cause }) => cause),
    subscription:
      subscription === null
        ? null
        : { ...showSubscription(subscription), in_force: inForce(subscription, now) },
    allowances: subscription === null ? null : allowancesOf(subscription, now),
  };
}

/** The subscription as text. */
function shownText({ domain, state, suspended_since, suspended_for, subscription }: Shown): string {
  const since = suspended_since === null ? '' : ` since ${suspended_since}: the edge refuses its visitors`;
  const lines = [`domain     ${domain}`, `state      ${state}${since}`];
  for (const cause of suspended_for) lines.push(`because    ${causeText(cause)}`);
  if (subscription === null) lines.push('tier       none of its own: the default of serve --tier');
  else {
    const { tier, until, overrides, in_force } = subscription;
    lines.push(`tier       ${tier}${in_force ? '' : ', not in force: the default of serve --tier applies'}`);
    lines.push(`until      ${until ?? 'without an end'}`);
    const differing = Object.entries(overrides).map(([name, value]) => `${name}=${overrideText(value)}`);
    lines.push(`overrides  ${differing.length === 0 ? 'none' : differing.join(' ')}`);
  }
  return `${lines.join('\n')}\n`;
}

/** What a subscription in force allows as text, a line for each value. */
function allowedText({ allowances }: Shown): string {
  const lines = Object.entries(allowances ?? {}).map(
    ([name, value]) => `  ${name.padEnd(26)}${overrideText(value)}\n`,
  );
  return lines.length === 0 ? '' : `allows\n${lines.join('')}`;
}

/** The value of an override as text. */
function overrideText(value: unknown): string {
  if (value === null) return 'unlimited';
  return Array.isArray(value) ? value.join(',') || 'none' : String(value);
}

/** Prints the subscription of a domain. */
async function show(name: string, flags: ShowFlags): Promise<void> {
  const found = await withData(flags, (store) =>
    store.read(async (tx) => {
      const domain = await findDomain(tx, name);
      return readShown(tx, domain);
    }),
  );
  await write(
    flags.json === true ? jsonDocument('subscription', found) : shownText(found) + allowedText(found),
  );
}

/** Changes the subscription and the state of a domain. @throws CommandFault */
async function set(name: string, flags: SetFlags): Promise<void> {
  const { tier, override, until, state } = flags;
  // `--state` alone changes the domain, not the subscription.
  const bought = tier !== undefined || override !== undefined || until !== undefined;
  if (!bought && state === undefined)
    throw usageFault('no change was given', 'give --tier, --override, --until or --state');
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
      // Suspending is a lifecycle event, in the same transaction.
      const change = { cause: 'operator', author: SERVICE, now } as const;
      const applied = state === undefined ? null : await CHANGES[state](tx, domain, change);
      return readShown(tx, applied?.domain ?? domain);
    }),
  );
  await write(shownText(found));
  if (state === 'active' && found.state === 'suspended') throw staysSuspended(found);
}

/** What ends a cause that `--state active` does not end. */
const REMEDIES: Readonly<Record<SuspensionCause, string>> = {
  operator: 'run the command again',
  wallet: 'import a wallet of zero or more for the account (`edgeplan billing import`)',
  quota: 'allow more traffic (`--override max_traffic_gb=<GB>`), or wait for the next quota period',
};

/** The operator's suspension has ended, and another cause is left. */
function staysSuspended({ domain, suspended_for }: Shown): CommandFault {
  const causes = suspended_for.map(causeText).join('; ');
  const remedy = suspended_for.map((cause) => REMEDIES[cause]).join('; ');
  return new CommandFault(EXIT.no, `\`${domain}\` stays suspended: ${causes}`, { remedy });
}

/** Removes the subscription. @throws CommandFault when the domain has no subscription */
async function remove(name: string, flags: StoreFlags): Promise<void> {
  const removed = await withData(flags, (store) =>
    store.write(async (tx) => removeSubscription(tx, await findDomain(tx, name), Date.now())),
  );
  if (!removed) throw new CommandFault(EXIT.no, `\`${name}\` has no subscription`);
  await write(`${name} has no subscription any more: the default of serve --tier applies\n`);
}

/** Parses an override and appends it. */
function gatherOverrides(text: string, gathered: readonly Override[] | undefined): readonly Override[] {
  const read = readOverride(text);
  if (!read.ok) throw new InvalidArgumentError(read.reason.endsWith('?') ? read.reason : `${read.reason}.`);
  return [...(gathered ?? []), read.value];
}

/** Parses `--until`. */
function readUntil(text: string): number | null {
  if (text === 'none') return null;
  const at = /^\d{4}-\d\d-\d\d(?:T.+)?$/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isFinite(at)) return at;
  throw new InvalidArgumentError('write 2027-01-31, 2027-01-31T12:00:00Z, or none for no end.');
}

/** Examples of the help. */
const EXAMPLES: Examples = {
  'subscription show': ['edgeplan subscription show shop.example --json'],
  'subscription set': [
    'edgeplan subscription set shop.example --tier pro --until 2027-01-31',
    'edgeplan subscription set shop.example --state suspended',
  ],
  'subscription remove': ['edgeplan subscription remove shop.example'],
};

/** Creates the command. */
export function subscriptionCommand(): Command {
  const command = new Command('subscription')
    .description('Show and set what a domain may use, and pause it; works beside a running server.')
    .addCommand(
      withStore(new Command('show').description('Show what a domain has bought.').argument('<domain>'))
        .addOption(jsonOption('subscription'))
        .action(show),
    )
    .addCommand(
      withStore(
        new Command('set')
          .description('Change it; options that are not given stay as they are.')
          .argument('<domain>'),
      )
        .addOption(new Option('--tier <slug>', 'what it may use').choices(TIER_SLUGS))
        .addOption(
          new Option(
            '--override <feature=value>',
            "one thing that differs from the tier, named as the API's features; may be repeated; feature= undoes it",
          ).argParser(gatherOverrides),
        )
        .addOption(new Option('--until <time>', 'when it ends, or none').argParser(readUntil))
        .addOption(
          new Option(
            '--state <state>',
            'suspended: paused by you, published at once; active ends that',
          ).choices(STATES),
        )
        .action(set),
    )
    .addCommand(
      withStore(
        new Command('remove')
          .description("Return the domain to the server's default tier.")
          .argument('<domain>'),
      ).action(remove),
    );
  return withExamples(command, EXAMPLES);
}
