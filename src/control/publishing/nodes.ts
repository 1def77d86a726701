/**
 * Nodes in the store: the tokens that they authenticate with, their groups, and their answers to revisions. A token is
 * shown once; only its SHA-256 is stored.
 */
import { randomBytes } from 'node:crypto';
import { sha256Hex } from '../../base/platform/cryptography.ts';
import { MAX_LEFT_GROUPS } from '../../base/vocabulary/limits.ts';
import { groupNames, leftGroups, shareGroup } from '../../base/vocabulary/node-groups.ts';
import type { ReadTransaction, WriteTransaction } from '../store/store.ts';
import { SERVICE } from '../store/tables/accounts.ts';
import type { DomainRow } from '../store/tables/domains.ts';
import type { NodeRow, ReportRow } from '../store/tables/nodes.ts';
import { MAX_REPLACED_TOKENS } from './limits.ts';

/** Apart from API keys (`svc_`) at a glance, and for scanners of leaked secrets. */
export const NODE_TOKEN_PREFIX = 'edn_';
/** The prefix, then 32 random octets in base64url. */
const TOKEN_SHAPE = /^edn_[A-Za-z0-9_-]{43}$/;

/** A node's name: what `GET /nodes/` and reports call it. */
export const NODE_NAME_SHAPE = /^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,62}[A-Za-z0-9])?$/;

export interface NewNode {
  readonly node: NodeRow;
  /** Shown now and never again. */
  readonly token: string;
}

/** Makes a node in the group `default`, and its token. @throws StoreFault `conflict` on `nodes.name` for a name in use */
export async function createNode(tx: WriteTransaction, name: string, now: number): Promise<NewNode> {
  const token = newToken();
  const node = await tx.nodes.insert({ name, token_hash: sha256Hex(token), created_at: now });
  return { node, token };
}

export type TokenRotation =
  /** `until`: the token before is valid until then. */
  | { readonly ok: true; readonly token: string; readonly until: number }
  /** As many as can be are still valid; `until`: the first of them is not from then on. */
  | { readonly ok: false; readonly until: number };

/** Gives a node another token. The one before is valid for `overlapMs` more; 0 ends all that it had. */
export async function rotateToken(
  tx: WriteTransaction,
  { id }: Pick<NodeRow, 'id'>,
  { now, overlapMs }: { readonly now: number; readonly overlapMs: number },
): Promise<TokenRotation> {
  const valid = (await tx.nodes.replacedTokens({ node_id: id })).filter(({ until }) => now < until);
  if (overlapMs === 0) await tx.nodes.dropTokens(id);
  else if (valid.length >= MAX_REPLACED_TOKENS) return { ok: false, until: valid[0]!.until };
  const token = newToken();
  const until = now + overlapMs;
  await tx.nodes.replaceToken({ id, token_hash: sha256Hex(token) }, { until, now });
  return { ok: true, token, until };
}

/** A node, and the token that it has shown. */
export interface ShownNode extends NodeRow {
  /** SHA-256, lower-case hex; `token_hash` is that of its newest. */
  readonly shown_hash: string;
}

/** The node a token belongs to; `null` for a malformed, unknown, revoked or ended one. */
export async function nodeOf(
  tx: Pick<ReadTransaction, 'nodes'>,
  { token, now }: { readonly token: string; readonly now: number },
): Promise<ShownNode | null> {
  if (!TOKEN_SHAPE.test(token)) return null;
  const hash = sha256Hex(token);
  const node = (await tx.nodes.byTokenHash(hash)) ?? (await nodeBefore(tx, { hash, now }));
  return node === null || node.revoked_at !== null ? null : { ...node, shown_hash: hash };
}

async function nodeBefore(
  tx: Pick<ReadTransaction, 'nodes'>,
  { hash, now }: { readonly hash: string; readonly now: number },
): Promise<NodeRow | null> {
  const [replaced] = await tx.nodes.replacedTokens({ token_hash: hash });
  return replaced === undefined || now >= replaced.until ? null : tx.nodes.get(replaced.node_id);
}

export interface Tokens {
  /** Hashes of all that are valid. */
  readonly valid: ReadonlySet<string>;
  /** Nodes that were revoked. */
  readonly revoked: ReadonlySet<number>;
  /** The groups of every node. */
  readonly groups: ReadonlyMap<number, string>;
}

export async function readTokens(tx: Pick<ReadTransaction, 'nodes'>, now: number): Promise<Tokens> {
  const nodes = await tx.nodes.list();
  const revoked = new Set(nodes.filter(({ revoked_at }) => revoked_at !== null).map(({ id }) => id));
  const replaced = await tx.nodes.replacedTokens('all');
  const valid = [
    ...nodes.filter(({ id }) => !revoked.has(id)),
    ...replaced.filter(({ node_id, until }) => !revoked.has(node_id) && now < until),
  ];
  const groups = new Map(nodes.map(({ id, node_groups }) => [id, node_groups]));
  return { valid: new Set(valid.map(({ token_hash }) => token_hash)), revoked, groups };
}

function newToken(): string {
  return `${NODE_TOKEN_PREFIX}${randomBytes(32).toString('base64url')}`;
}

// Puts nodes and domains into groups. What a node may see by them is in `pages.ts` and `control/api/routes/feed.ts`.

export interface NodeGroup {
  readonly name: string;
  /** Nodes whose token is not revoked. */
  readonly nodes: number;
  readonly domains: number;
}

/** The groups that a node or a domain is in, by name. */
export async function listGroups(
  tx: Pick<ReadTransaction, 'nodes' | 'groups'>,
): Promise<readonly NodeGroup[]> {
  const groups = new Map<string, { nodes: number; domains: number }>();
  const add = (set: string, what: 'nodes' | 'domains', count: number): void => {
    for (const name of groupNames(set)) {
      const group = groups.get(name) ?? { nodes: 0, domains: 0 };
      group[what] += count;
      groups.set(name, group);
    }
  };
  const nodes = (await tx.nodes.list()).filter(({ revoked_at }) => revoked_at === null);
  for (const { node_groups } of nodes) add(node_groups, 'nodes', 1);
  for (const { node_groups, domains } of await tx.groups.countDomains()) add(node_groups, 'domains', domains);
  return [...groups]
    .map(([name, counts]) => ({ name, ...counts }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

export type DomainMove =
  | { readonly ok: true; readonly changed: boolean }
  /** It has been in too many other groups. */
  | { readonly ok: false; readonly left: number };

/**
 * Puts a domain into groups. Its next revision goes to their nodes, and takes it from those of the groups that it leaves.
 */
export async function moveDomain(
  tx: WriteTransaction,
  domain: Pick<DomainRow, 'id' | 'name'>,
  { groups, now }: { readonly groups: string; readonly now: number },
): Promise<DomainMove> {
  const before = (await tx.groups.ofDomain(domain.id))!;
  if (before === groups) return { ok: true, changed: false };
  const current = await tx.plans.current(domain.name);
  const left = groupNames(
    leftGroups({ groups: current?.node_groups ?? '', left: current?.left_groups ?? '' }, groups),
  ).length;
  if (left > MAX_LEFT_GROUPS) return { ok: false, left };
  await tx.groups.setDomain(domain.id, groups);
  const about = { ...SERVICE, domain_id: domain.id, domain: domain.name, at: now };
  await tx.audit.append({
    ...about,
    action: 'domain.group',
    subject: '',
    before_json: JSON.stringify({ node_groups: groupNames(before) }),
    after_json: JSON.stringify({ node_groups: groupNames(groups) }),
  });
  await tx.outbox.append({ ...about, reason: 'node groups changed' });
  return { ok: true, changed: true };
}

// Files a node's answers to revisions, as far as they can be true: names of its groups, revisions that were published. In: the
// answers of one report. One that cannot be true files none of them.

/** The message names the field and the limit. */
export class ReportRefusal extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'ReportRefusal';
  }
}

/** A node's answer to one revision. */
export type SentReport = Omit<ReportRow, 'node_id' | 'at'>;

/**
 * Checks a node's answers, before they are filed.
 * @throws ReportRefusal for an answer about a domain in none of the node's groups (nor one that has left them), or to a
 *   revision that does not exist
 */
export async function checkReports(
  tx: ReadTransaction,
  node: Pick<NodeRow, 'node_groups'>,
  reports: readonly SentReport[],
): Promise<void> {
  for (const [place, report] of reports.entries()) await checkAnswer(tx, node, { report, place });
}

/** Files checked answers. */
export async function fileReports(
  tx: WriteTransaction,
  node: Pick<NodeRow, 'id'>,
  { reports, now }: { readonly reports: readonly SentReport[]; readonly now: number },
): Promise<void> {
  await tx.nodes.report(reports.map((report) => ({ ...report, node_id: node.id, at: now })));
}

async function checkAnswer(
  tx: ReadTransaction,
  { node_groups }: Pick<NodeRow, 'node_groups'>,
  { report, place }: { readonly report: SentReport; readonly place: number },
): Promise<void> {
  const { domain, revision } = report;
  const current = await tx.plans.current(domain);
  const groups = current === null ? '' : `${current.node_groups},${current.left_groups}`;
  if (current === null || !shareGroup(groups, node_groups)) {
    throw new ReportRefusal(`reports[${place}].domain: \`${domain}\` is in no group of this node`);
  }
  if (revision <= current.revision) return;
  const newest = `the newest revision of \`${domain}\` is ${current.revision}`;
  throw new ReportRefusal(`reports[${place}].revision: ${newest}, found ${revision}`);
}
