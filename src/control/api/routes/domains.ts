/** Domains: list, create, read, change, delete, developer mode. */
import { parse } from 'tldts';
import { z } from 'zod';
import { unreachable } from '../../../base/diagnostics/assert.ts';
import { timeText } from '../../../base/text/time.ts';
import { resolveEntitlements } from '../../accounts/entitlements.ts';
import { settleDomain } from '../../billing/settle.ts';
import { auditedFields } from '../../domains/apply-event.ts';
import { challengeHost, newChallenge } from '../../domains/challenge.ts';
import { claimName } from '../../domains/claim-name.ts';
import { removeDomain } from '../../domains/claims.ts';
import { MAX_UNPROVED_OF_ACCOUNT, UNPROVED_MS } from '../../domains/limits.ts';
import { type LifecycleFields, nextRow } from '../../domains/state.ts';
import type { DomainRow } from '../../store/tables/domains.ts';
import {
  type DomainUpdate,
  domainCreateForm,
  domainDetail,
  domainSummary,
  domainUpdateForm,
  initialSettings,
  isCacheable,
  judgeCeilings,
  judgeSettings,
  NO_ROOM,
  showDetail,
  showSummary,
} from '../domain-shape.ts';
import { formBody } from '../operation/read-request.ts';
import { badRequest, conflict, forbidden, notFound, type Refusal } from '../operation/refusal.ts';
import { type Call, message, operation, type Response, type Writing } from '../operation/route.ts';
import { messageShape } from '../operation/shapes.ts';

// Decides which names an account may register: one label below a public suffix, or more (Public Suffix List,
// publicsuffix.org, by `tldts`). Unrelated parties share a suffix itself, also in the list's private section (`github.io`).
// A name under no suffix of the list, such as the special-use names of RFC 6761 and RFC 6762 (`.test`, `.local`), has no
// owner in the public DNS, so a proof of it is worthless. The list contains two special-use trees nevertheless, `.arpa`
// and `.onion` (IANA, Special-Use Domain Names).

/** Special-use suffixes of the list with their use, for the error message; the first that covers a name applies. */
const SPECIAL_USE: readonly (readonly [suffix: string, use: string])[] = [
  ['in-addr.arpa', 'finds the names of IPv4 addresses (RFC 1035 §3.5)'],
  ['ip6.arpa', 'finds the names of IPv6 addresses (RFC 3596 §2.5)'],
  ['home.arpa', 'is of each home network alone (RFC 8375)'],
  ['arpa', 'is for the infrastructure of the Internet (RFC 3172)'],
  ['onion', 'is of the Tor network and not in the DNS (RFC 7686)'],
];

const REMEDY = 'a server for private names is started with --allow-private-names';

/** Why a canonical name cannot be registered, for the message of a 400; `null`: it can. */
function nameProblem(name: string): string | null {
  const special = SPECIAL_USE.find(([suffix]) => name === suffix || name.endsWith(`.${suffix}`));
  if (special !== undefined)
    return `\`.${special[0]}\` ${special[1]}, so it is no site of the public DNS; ${REMEDY}`;
  const { domain, publicSuffix, isIcann, isPrivate } = parse(name, { allowPrivateDomains: true });
  if (isIcann !== true && isPrivate !== true) {
    return `\`.${name.slice(name.lastIndexOf('.') + 1)}\` is no public suffix, so nobody can prove the name in the DNS; ${REMEDY}`;
  }
  if (domain !== null) return null;
  return `\`${publicSuffix ?? name}\` is a public suffix: strangers register names below it; register a name of yours`;
}

/** Milliseconds developer mode lasts. Given (semantics §6). */
const DEVELOPER_MODE_MS = 3 * 3_600_000;

/** The answer with the full form of a domain, read inside a transaction or outside. */
export async function answerDomain(
  at: Pick<Writing, 'role' | 'now'> & { readonly tx: Call<unknown>['latest'] },
  domain: DomainRow,
): Promise<Response> {
  const body = await showDetail(at.tx, { domain, role: at.role, now: at.now });
  return { body, tagged: isCacheable(body) };
}

/** Compares `If-Match` with the ETag of the domain's full form. @throws Refusal 412 */
async function matchDomain(w: Writing): Promise<void> {
  const { domain, now, role, tx } = w;
  if (w.conditional) w.match(isCacheable(await showDetail(tx, { domain, role, now })));
}

/** `GET /domains/`: the domains that the account owns or is a member of, with its role on each. */
export const list = operation({
  summary: 'Domains the account owns or is a member of, by name',
  response: z.array(domainSummary),
  async handle({ caller, now, read }) {
    return read(async (tx) => {
      const body = [];
      for (const { domain, role } of await tx.domains.listSeenBy(caller.account_id)) {
        if (role !== null) body.push(await showSummary(tx, { domain, role, now }));
      }
      return { body, tagged: body.map(isCacheable) };
    });
  },
});

/** The 409 for a registered name: the message that the API document prescribes, and what can be done. */
function taken(remedy: string): Refusal {
  return conflict(`domain already registered on this or another account; ${remedy}`);
}

/** What can be done where the account itself sees a domain of the name. */
const SEEN = 'GET /domains/ lists it';

/** The lifecycle fields of a new domain. @throws Refusal 409 where the account cannot claim the name */
async function claim(
  { now, tx, author }: Writing,
  { name, dns_mode, besideOthers }: Pick<DomainRow, 'name' | 'dns_mode'> & { readonly besideOthers: boolean },
): Promise<LifecycleFields> {
  const asked = { name, dns_mode, accountId: author.account_id, besideOthers, now };
  const outcome = await claimName(tx, asked);
  if (outcome.ok) return outcome.state;
  switch (outcome.code) {
    case 'seen':
      throw taken(SEEN);
    case 'proved':
      throw taken('its owner has proved the name and can share the domain or delete it');
    case 'unproved':
      throw taken(
        'nobody has proved the name: add `?claim=true` to claim it, and the first account that proves it has it',
      );
    case 'account_full': {
      const remedy = 'prove or delete some first';
      throw conflict(
        `the account has ${MAX_UNPROVED_OF_ACCOUNT} domains that are not proved, the most there may be; ${remedy}`,
      );
    }
    case 'name_full': {
      const remedy = `each lapses within ${UNPROVED_MS / 86_400_000} days`;
      throw conflict(
        `${outcome.claims} accounts claim the name and none has proved it, the most there may be; ${remedy}`,
      );
    }
    case 'too_long':
      throw conflict(`another account claims the name, and ${NO_ROOM}`);
    default:
      return unreachable(outcome);
  }
}

/**
 * `POST /domains/`: the caller becomes the owner. A managed domain starts `pending` and its records are scanned; an
 * external one starts `unverified`. 409 for a name of another account; with `?claim=true` for one that is proved.
 */
export const create = operation({
  summary: 'Add a domain, or claim a name that another account has added and nobody has proved',
  query: z.object({
    claim: z
      .enum(['true', 'false'])
      .optional()
      .describe('`true`: also where another account has added the name and not proved it'),
  }),
  body: formBody(domainCreateForm),
  response: domainDetail,
  statuses: [409],
  async handle({ body: { name, dns_mode }, query, caller, services, validateOnly, write }) {
    const besideOthers = query['claim'] === 'true';
    const problem = services.privateNames ? null : nameProblem(name);
    if (problem !== null) throw badRequest(`name: ${problem}`);
    const answer = await write(async (w) => {
      const { now, tx } = w;
      const fallback = services.tier;
      const entitlements = resolveEntitlements({
        domain: { created_at: now },
        subscription: null,
        fallback,
        now,
      });
      const state = await claim(w, { name, dns_mode, besideOthers });
      const row = await tx.domains.insert({
        name,
        user_id: caller.account_id,
        ...state,
        last_manual_ns_check_at: null,
        developer_mode_until: null,
        ...initialSettings(entitlements),
        created_at: now,
        updated_at: now,
      });
      if (dns_mode === 'managed' && services.lifecycle.scan !== null) {
        const { account_id, key_id } = caller;
        await tx.scans.put({ domain_id: row.id, account_id, key_id, run_at: now, tries: 0 });
      }
      const after = { name, dns_mode };
      await w.audit({ action: 'domain.create', after, domain: row });
      // A wallet below zero suspends new domains too.
      const settled = await settleDomain(tx, row, now);
      return answerDomain({ tx, role: 'owner', now }, settled);
    });
    if (dns_mode === 'managed' && !validateOnly) services.lifecycle.scan?.();
    return answer;
  },
});

/** `GET /domains/{domain}`: read again in one snapshot, so that settings and progress are of the same state. */
export const detail = operation({
  summary: 'One domain with its settings, progress and what the caller may do',
  response: domainDetail,
  async handle({ domain, read, role, now }) {
    return read(async (tx) => {
      const fresh = await tx.domains.get(domain.id);
      if (fresh === null) throw notFound();
      return answerDomain({ tx, role, now }, fresh);
    });
  },
});

/** `PUT /domains/{domain}`: a partial update. A change that the edge does not see (`QUIET`) needs no publication. */
export const update = operation({
  summary: 'Change settings of a domain; fields left out keep their value',
  body: formBody(domainUpdateForm),
  response: domainDetail,
  statuses: [409],
  async handle({ body, write }) {
    return write((w) => updateDomain(w, body));
  },
});

/** Checks and stores a partial update; audits it and publishes it where the edge depends on it. @throws Refusal */
async function updateDomain(w: Writing, body: DomainUpdate): Promise<Response> {
  const { domain, now, tx } = w;
  const { settings } = body;
  judgeSettings({ ...domain, ...settings });
  if (body.dns_mode === 'external' && domain.dns_mode === 'managed' && challengeHost(domain.name) === null)
    throw badRequest(`dns_mode: must stay \`managed\`: ${NO_ROOM}`);
  judgeCeilings(domain, settings, await w.entitlements());
  await matchDomain(w);
  const moved =
    body.dns_mode === undefined
      ? null
      : nextRow(domain, { kind: 'mode', dns_mode: body.dns_mode, challenge: newChallenge(now) }, now);
  if (moved?.ok === false) throw conflict(moved.reason);
  const wanted = {
    ...settings,
    ...moved?.changes,
    ...(body.endDeveloperMode ? { developer_mode_until: null } : {}),
  };
  const changes = differing(domain, wanted);
  if (Object.keys(changes).length === 0) return answerDomain(w, domain);
  const after = await tx.domains.update(domain.id, { ...changes, updated_at: now });
  if (after === null) throw notFound();
  const names = Object.keys(changes) as (keyof DomainRow)[];
  await w.audit({
    action: 'domain.update',
    before: auditedFields(domain, names),
    after: auditedFields(after, names),
  });
  if (names.some((name) => !QUIET.test(name))) await w.publish('domain settings changed');
  return answerDomain(w, after);
}

/** Columns that no plan depends on: uptime settings and the progress of checks. Their changes need no publication. */
const QUIET =
  /^(?:uptime_|verification_|outage_alerts$|pending_since$|next_check_at$|verified_at$|unproved_since$)/;

/** The wanted columns whose values differ from the row. */
function differing(before: DomainRow, wanted: Partial<DomainRow>): Partial<DomainRow> {
  const changed = Object.entries(wanted).filter(([name, value]) => before[name as keyof DomainRow] !== value);
  return Object.fromEntries(changed);
}

/**
 * `DELETE /domains/{domain}`: the publication that follows removes the plan from all nodes. 403 for a banned domain.
 */
export const remove = operation({
  summary: 'Delete a domain with its records, rules and zone, for good',
  response: messageShape,
  async handle({ write }) {
    return write(async (w) => {
      const { domain, tx, author, now } = w;
      // Deleted and created again, it would no longer be banned.
      if (domain.status === 'banned') throw forbidden('the domain is banned; only the service can lift that');
      await matchDomain(w);
      w.waitFor(await removeDomain(tx, domain, { author, now }));
      return message(`domain \`${domain.name}\` deleted`);
    });
  },
});

/**
 * `POST /domains/{domain}/developer-mode`: sets `developer_mode_until` and publishes it; a repeated request extends the
 * time.
 */
export const developerMode = operation({
  summary: 'Bypass the cache for three hours from now',
  response: z.object({ developer_mode_until: z.iso.datetime() }),
  statuses: [409],
  async handle({ write }) {
    return write(async (w) => {
      const until = w.now + DEVELOPER_MODE_MS;
      await matchDomain(w);
      await w.tx.domains.update(w.domain.id, { developer_mode_until: until, updated_at: w.now });
      await w.audit({
        action: 'domain.developer_mode',
        before: auditedFields(w.domain, ['developer_mode_until']),
        after: { developer_mode_until: timeText(until) },
      });
      await w.publish('developer mode');
      return { body: { developer_mode_until: timeText(until) } };
    });
  },
});
