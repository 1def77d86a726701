/**
 * `edgeplan domain`: commands of an operator for a customer's domain: show, ban, disable, their reversals, and node
 * groups.
 */
import { Command } from 'commander';
import { groupNames, shareGroup } from '../../base/vocabulary/node-groups.ts';
import { applyEvent } from '../../control/domains/apply-event.ts';
import { newChallenge } from '../../control/domains/challenge.ts';
import type { LifecycleEvent } from '../../control/domains/state.ts';
import { moveDomain } from '../../control/publishing/nodes.ts';
import { type AccountRow, SERVICE } from '../../control/store/tables/accounts.ts';
import type { DomainRow } from '../../control/store/tables/domains.ts';
import type { ManifestRow } from '../../control/store/tables/plans.ts';
import { type Examples, withExamples } from '../examples.ts';
import { CommandFault, EXIT, usageFault } from '../exit.ts';
import { findDomain, type StoreFlags, withData, withStore } from '../open-data.ts';
import { jsonOption, readNodeGroups } from '../options.ts';
import { jsonDocument, note, write } from '../output.ts';
import { nextStep } from '../remote/publication.ts';

/** The longest reason in characters: it is one line of the audit log. */
const MAX_REASON = 200;

/** Options of commands that record a reason, as commander parses them. */
interface ReasonFlags extends StoreFlags {
  /** The reason, for the audit log. */
  readonly reason: string;
}

/** Options of `unban` and `enable`, as commander parses them. */
interface ReturnFlags extends ReasonFlags {
  /** The operator vouches for the owner's right to the name. */
  readonly proven?: boolean;
}

/** Options of `show`, as commander parses them. */
interface ShowFlags extends StoreFlags {
  /** Prints JSON. */
  readonly json?: boolean;
}

/** What `show` prints. */
interface Shown {
  readonly domain: string;
  readonly id: number;
  readonly owner: string | null;
  readonly status: string;
  readonly dns_mode: string;
  readonly suspended: boolean;
  /** The node groups that serve the domain. */
  readonly node_groups: readonly string[];
  readonly created_at: string;
  /** The published revision; `null`: none. */
  readonly revision: number | null;
}

/** Rows that belong to a domain. */
interface About {
  readonly owner: AccountRow | null;
  readonly current: ManifestRow | null;
  readonly groups: string;
}

/** A domain as `show` prints it. */
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

/** Prints the state of a domain. */
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
  await write(flags.json === true ? jsonDocument('domain', found) : `${lines.join('\n')}\n`);
}

/** Moves a domain to node groups. */
async function group(name: string, groups: string, flags: StoreFlags): Promise<void> {
  const moved = await withData(flags, (store) =>
    store.write(async (tx) => {
      const domain = await findDomain(tx, name);
      const move = await moveDomain(tx, domain, { groups, now: Date.now() });
      if (!move.ok) {
        throw new CommandFault(EXIT.no, `${domain.name} has been in ${move.left} other groups before`, {
          remedy: 'move it to groups that it was in before, or move nodes to its groups',
        });
      }
      // A domain in groups without a node is served nowhere; that is allowed, with a warning.
      const nodes = await tx.nodes.list();
      const served = nodes.some((one) => one.revoked_at === null && shareGroup(one.node_groups, groups));
      return { domain: domain.name, served, ...move };
    }),
  );
  await write(`${moved.domain} is in ${groups}\n`);
  if (!moved.served) note(`warning: no node is in ${groups}; the domain is served nowhere`);
  if (moved.changed) note('nodes that follow a server get or remove its plan within seconds');
}

/**
 * Applies a lifecycle event, prints the new status and returns the domain.
 * @throws CommandFault with the refusal
 */
async function apply(
  name: string,
  event: (now: number) => LifecycleEvent,
  flags: ReasonFlags,
): Promise<DomainRow> {
  const { reason } = flags;
  // Counted in code points, as a reader counts characters.
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
  return domain;
}

/** The action of `enable` and `unban`. */
function returning(kind: 'enable' | 'unban') {
  return async (name: string, flags: ReturnFlags): Promise<void> => {
    const proof =
      flags.proven === true ? ({ proof: 'holds', vouched: true } as const) : { proof: 'unknown' as const };
    const domain = await apply(name, (now) => ({ kind, ...proof, challenge: newChallenge(now) }), flags);
    const step = nextStep(domain.name, domain);
    if (step !== null) note(`next: ${step}`);
  };
}

/** Adds the domain and `--reason` to a command. */
function reasoned(command: Command): Command {
  return withStore(command).argument('<domain>').requiredOption('--reason <text>', 'why, for the audit log');
}

/** Adds `--proven` to a command. */
function provable(command: Command): Command {
  return reasoned(command).option(
    '--proven',
    'the owner may use the name, on your word: it is served at once; without this it is checked like a new domain',
  );
}

/** Examples of the help. */
const EXAMPLES: Examples = {
  'domain show': ['edgeplan domain show shop.example', 'edgeplan domain show shop.example --json'],
  'domain group': ['edgeplan domain group shop.example eu,us'],
  'domain ban': ["edgeplan domain ban shop.example --reason 'phishing, ticket 4711'"],
  'domain unban': ["edgeplan domain unban shop.example --reason 'cleaned up, ticket 4711' --proven"],
  'domain disable': ["edgeplan domain disable shop.example --reason 'asked by its owner'"],
  'domain enable': ["edgeplan domain enable shop.example --reason 'asked by its owner'"],
};

/** Creates the command. */
export function domainCommand(): Command {
  const command = new Command('domain')
    .description("Show, ban and disable a customer's domain; works beside a running server.")
    .addCommand(
      withStore(new Command('show').description('Show its state.').argument('<domain>'))
        .addOption(jsonOption('domain'))
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
        async (name: string, flags: ReasonFlags) => void (await apply(name, () => ({ kind: 'ban' }), flags)),
      ),
    )
    .addCommand(provable(new Command('unban').description('Lift a ban.')).action(returning('unban')))
    .addCommand(
      reasoned(
        new Command('disable').description('Refuse its visitors; its owner may enable it again.'),
      ).action(
        async (name: string, flags: ReasonFlags) =>
          void (await apply(name, () => ({ kind: 'disable' }), flags)),
      ),
    )
    .addCommand(
      provable(new Command('enable').description('Bring a disabled domain back.')).action(
        returning('enable'),
      ),
    );
  return withExamples(command, EXAMPLES);
}
