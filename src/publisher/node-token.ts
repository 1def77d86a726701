/** Node tokens: what a node shows to read the feed. Shown once; only a SHA-256 is stored. */
import { createHash, randomBytes } from 'node:crypto';
import type { NodeRow } from '../store/rows.ts';
import type { ReadTransaction, WriteTransaction } from '../store/store.ts';

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

/** Makes a node and its token. Throws the store's `conflict` on `nodes.name` when the name is taken. */
export async function createNode(tx: WriteTransaction, name: string, now: number): Promise<NewNode> {
  const token = `${NODE_TOKEN_PREFIX}${randomBytes(32).toString('base64url')}`;
  const node = await tx.nodes.insert({ name, token_hash: hashToken(token), created_at: now });
  return { node, token };
}

/** The node a token belongs to; `null` for a malformed, unknown or revoked one. */
export async function nodeOf(tx: Pick<ReadTransaction, 'nodes'>, token: string): Promise<NodeRow | null> {
  if (!TOKEN_SHAPE.test(token)) return null;
  const node = await tx.nodes.byTokenHash(hashToken(token));
  return node === null || node.revoked_at !== null ? null : node;
}

function hashToken(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}
