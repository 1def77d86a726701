/** Node tokens: what a node shows to read the feed. Shown once; only a SHA-256 is stored. */
import { randomBytes } from 'node:crypto';
import { sha256Hex } from '../../base/platform/cryptography.ts';
import type { NodeRow } from '../store/rows.ts';
import type { ReadTransaction, WriteTransaction } from '../store/store.ts';
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
