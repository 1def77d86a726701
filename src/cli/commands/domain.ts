/** `edgeplan domain`: an operator's commands for a customer's domain: ban, disable, undo both, and choose its node groups. */
import { Command } from 'commander';
import { groupNames, shareGroup } from '../../base/node-groups.ts';
import { applyEvent } from '../../lifecycle/apply-event.ts';
import { newChallenge } from '../../lifecycle/challenge.ts';
import type { LifecycleEvent } from '../../lifecycle/state.ts';
import { moveDomain } from '../../publisher/node-groups.ts';
import type { AccountRow, DomainRow, ManifestRow } from '../../store/rows.ts';
import { SERVICE } from '../../store/store.ts';
import { CommandFault, EXIT, usageFault } from '../exit.ts';
import type { StoreFlags } from '../open-data.ts';
import { readNodeGroups } from '../options.ts';
import { note, write } from '../output.ts';
import { findDomain, withData, withStore } from '../with-store.ts';

/** Characters of a reason: it has to fit a line of the audit log. */
const MAX_REASON = 200;

interface ReasonFlags extends StoreFlags {
  readonly reason: string;
}

interface ReturnFlags extends ReasonFlags {
  readonly proven?: boolean;
}

interface ShowFlags extends StoreFlags {
  readonly json?: boolean;
}

interface Shown {
  readonly domain: string;
  readonly id: number;
  readonly owner: string | null;
  readonly status: string;
  readonly dns_mode: string;
  readonly suspended: boolean;
  /** The groups whose nodes serve it. */
  readonly node_groups: readonly string[];
  readonly created_at: string;
  /** What nodes follow; `null`: nothing was published. */
  readonly revision: number | null;
}

interface About {
  readonly owner: AccountRow | null;
  readonly current: ManifestRow | null;
  readonly groups: string;
}

function shown(domain: DomainRow, { owner, current, groups }: About): Shown {
  const { name, id, status, dns_mode, suspended, created_at } = domain;
  return {
    domain: name,
    id,
    owner: owner?.name ?? null,
    status,
    dns_mode,
    suspended,
    node_groups: groupNames(groups),
    created_at: new Date(created_at).toISOString(),
    revision: current?.revision ?? null,
  };
}

async function show(name: string, flags: ShowFlags): Promise<void> {
  const found = await withData(flags, (store) =>
    store.read(async (tx) => {
      const domain = await findDomain(tx, name);
      const owner = await tx.accounts.get(domain.user_id);
      const groups = (await tx.groups.ofDomain(domain.id))!;
      return shown(domain, { owner, groups, current: await tx.plans.current(domain.name) });
    }),
  );
  const lines = Object.entries(found).map(([field, value]) => `${field.padEnd(12)}${value ?? 'none'}`);
  await write(flags.json === true ? `${JSON.stringify(found, null, 2)}\n` : `${lines.join('\n')}\n`);
}

async function group(name: string, groups: string, flags: StoreFlags): Promise<void> {
  const moved = await withData(flags, (store) =>
    store.write(async (tx) => {
      const domain = await findDomain(tx, name);
      const move = await moveDomain(tx, domain, { groups, now: Date.now() });
      if (!move.ok) {
        throw new CommandFault(EXIT.no, `${domain.name} has been in ${move.left} other groups before`, {
          remedy: 'put it into groups that it was in already, or put nodes into the groups it is in',
        });
      }
      const nodes = await tx.nodes.list();
      const served = nodes.some((one) => one.revoked_at === null && shareGroup(one.node_groups, groups));
      return { domain: domain.name, served, ...move };
    }),
  );
  await write(`${moved.domain} is in ${groups}\n`);
  if (!moved.served) note(`warning: no node is in ${groups}; the domain is served nowhere`);
  if (moved.changed) note('nodes that follow a server get or remove its plan within seconds');
}

/** Applies an event and prints the status it leads to. @throws CommandFault with the refusal */
async function apply(
  name: string,
  event: (now: number) => LifecycleEvent,
  flags: ReasonFlags,
): Promise<void> {
  const { reason } = flags;
  if (reason.trim() === '' || [...reason].length > MAX_REASON) {
    throw usageFault(`a reason has 1 to ${MAX_REASON} characters`);
  }
  const domain = await withData(flags, (store) =>
    store.write(async (tx) => {
      const now = Date.now();
      const before = await findDomain(tx, name);
      const { transition, domain: after } = await applyEvent(tx, before, event(now), {
        author: SERVICE,
        now,
        reason,
      });
      if (!transition.ok) throw new CommandFault(EXIT.no, transition.reason);
      return after;
    }),
  );
  await write(`${domain.name} is ${domain.status}\n`);
}

function returning(kind: 'enable' | 'unban') {
  return (name: string, flags: ReturnFlags): Promise<void> => {
    const word =
      flags.proven === true ? ({ proof: 'holds', vouched: true } as const) : { proof: 'unknown' as const };
    return apply(name, (now) => ({ kind, ...word, challenge: newChallenge(now) }), flags);
  };
}

function reasoned(command: Command): Command {
  return withStore(command).argument('<domain>').requiredOption('--reason <text>', 'why, for the audit log');
}

function provable(command: Command): Command {
  return reasoned(command).option(
    '--proven',
    'the owner may use the name, on your word: it is served at once; without this it is checked like a new domain',
  );
}

/** The command, to be added to a program. */
export function domainCommand(): Command {
  return new Command('domain')
    .description("Show, ban and disable a customer's domain; works beside a running server.")
    .addCommand(
      withStore(new Command('show').description('Show its state.').argument('<domain>'))
        .option('--json', 'print a JSON object')
        .action(show),
    )
    .addCommand(
      withStore(
        new Command('group')
          .description('Put it into groups of nodes, and out of all others; no other node sees it.')
          .argument('<domain>')
          .argument('<groups>', 'names joined by commas, such as eu,us', readNodeGroups),
      ).action(group),
    )
    .addCommand(
      reasoned(new Command('ban').description('Refuse its visitors; its owner cannot undo it.')).action(
        (name: string, flags: ReasonFlags) => apply(name, () => ({ kind: 'ban' }), flags),
      ),
    )
    .addCommand(provable(new Command('unban').description('Lift a ban.')).action(returning('unban')))
    .addCommand(
      reasoned(
        new Command('disable').description('Refuse its visitors; its owner may enable it again.'),
      ).action((name: string, flags: ReasonFlags) => apply(name, () => ({ kind: 'disable' }), flags)),
    )
    .addCommand(
      provable(new Command('enable').description('Bring a disabled domain back.')).action(
        returning('enable'),
      ),
    );
}
