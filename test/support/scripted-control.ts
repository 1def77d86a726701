/**
 * A small control plane that does what a test says: it signs its manifest as the publisher does, pushes pages over the feed,
 * serves plans, and seals certificate sets for the node that asks. Answers about certificates can be replaced.
 */
import { createPublicKey, generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readBoxKey, sealBox, sha256Hex } from '../../src/base/platform/cryptography.ts';
import {
  CERTIFICATE_SET_FORMAT,
  type CertificateSet,
  certificateSetContext,
  MANIFEST_FORMAT,
  type ManifestEntry,
  type ManifestPage,
  manifestText,
  type NodeSelf,
  SELF_FORMAT,
  type SetCertificate,
  type SignedPage,
  selfText,
  type Tombstone,
} from '../../src/engine/plan/manifest.ts';

/** A request for certificates, and the honest answer to it. */
export interface SetRequest {
  readonly domain: string;
  /** The node's public key as sent. */
  readonly nodeKey: string;
  readonly digest: string;
  readonly box: Buffer;
}

export interface SetAnswer {
  readonly status?: number;
  readonly digest?: string;
  readonly box?: Buffer;
}

/** What becomes of a name; absent fields stay. */
export interface NameChange {
  /** Sealed; raises the revision. */
  readonly plan?: Uint8Array;
  readonly tombstone?: Tombstone;
  /** `null`: it has none. */
  readonly certificates?: readonly SetCertificate[] | null;
}

export interface ScriptedControl {
  readonly url: string;
  /** SubjectPublicKeyInfo in base64. */
  readonly publicKey: string;
  /** Changes a name and pushes its entry. */
  change(domain: string, change: NameChange): ManifestEntry;
  /** Changes many names and pushes one page each 500. */
  changeAll(changes: ReadonlyMap<string, NameChange>): void;
  /** Pushes entries as they are, signed, in a page that goes up to the newest position. */
  replay(entries: readonly ManifestEntry[]): void;
  /** The answer in place of the honest one; `null` in turn: the honest one. */
  answer: ((asked: SetRequest) => SetAnswer | null) | null;
  /** Requests for certificates, in order. */
  readonly asked: SetRequest[];
  /** Keys that came with `GET /nodes/self`. */
  readonly introduced: (string | undefined)[];
  /** Refuses connections, and cuts those that are open. */
  away(isAway: boolean): void;
  close(): Promise<void>;
}

interface NameState {
  readonly entry: ManifestEntry;
  readonly json: string | null;
}

/** The JSON text of a set. */
export function setText(domain: string, certificates: readonly SetCertificate[]): string {
  const set: CertificateSet = { format: CERTIFICATE_SET_FORMAT, domain, certificates };
  return JSON.stringify(set);
}

export async function startScriptedControl(): Promise<ScriptedControl> {
  const { privateKey } = generateKeyPairSync('ed25519');
  const spki = createPublicKey(privateKey).export({ format: 'der', type: 'spki' });
  const publicKey = spki.toString('base64');
  const keyId = sha256Hex(spki).slice(0, 16);
  const names = new Map<string, NameState>();
  const plans = new Map<string, Uint8Array>();
  const streams = new Set<ServerResponse>();
  const clearance = randomBytes(32).toString('base64');
  let position = 0;
  let isAway = false;

  function signed(entries: readonly ManifestEntry[], since: number): SignedPage {
    const page = {
      format: MANIFEST_FORMAT,
      since,
      through: position,
      complete: true,
      at: Date.now(),
      entries,
    };
    const manifest: ManifestPage = page as ManifestPage;
    const signature = sign(null, Buffer.from(manifestText(manifest)), privateKey).toString('base64');
    return { manifest, key_id: keyId, signature };
  }

  function pageAbove(since: number): SignedPage {
    const entries = [...names.values()].map(({ entry }) => entry).filter((entry) => entry.position > since);
    return signed(
      entries.sort((a, b) => a.position - b.position),
      Math.min(since, position),
    );
  }

  function push(page: SignedPage): void {
    for (const stream of streams) stream.write(eventOf(page));
  }

  function apply(domain: string, { plan, tombstone, certificates }: NameChange): ManifestEntry {
    const before = names.get(domain);
    const changes = plan !== undefined || tombstone !== undefined;
    const json =
      certificates === undefined
        ? (before?.json ?? null)
        : certificates === null
          ? null
          : setText(domain, certificates);
    let digest = tombstone === undefined ? (before?.entry.digest ?? null) : null;
    if (plan !== undefined) {
      digest = sha256Hex(plan);
      plans.set(digest, plan);
    }
    const entry: ManifestEntry = {
      domain,
      revision: (before?.entry.revision ?? 0) + (changes ? 1 : 0),
      digest,
      tombstone: tombstone ?? (digest === null ? (before?.entry.tombstone ?? 'refused') : null),
      purge_epoch: 0,
      position: ++position,
      ...(json === null ? {} : { certificates: sha256Hex(json) }),
    };
    names.set(domain, { entry, json });
    return entry;
  }

  const server = createServer((request, response) => {
    if (isAway) return void request.socket.destroy();
    answerTo(request, response);
  });

  function answerTo(request: IncomingMessage, response: ServerResponse): void {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://control');
    const since = Number(searchParams.get('since') ?? 0);
    if (pathname === '/nodes/self') {
      control.introduced.push(request.headers['edgeplan-box-key'] as string | undefined);
      const nonce = searchParams.get('nonce') ?? '';
      const self: NodeSelf = {
        format: SELF_FORMAT,
        id: 1,
        name: 'n',
        public_key: publicKey,
        clearance,
        nonce,
      };
      const signature = sign(null, Buffer.from(selfText(self)), privateKey).toString('base64');
      response.end(JSON.stringify({ ...self, key_id: keyId, signature }));
    } else if (pathname === '/nodes/manifest') {
      response.end(JSON.stringify(pageAbove(since)));
    } else if (pathname === '/nodes/feed') {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(eventOf(pageAbove(since)));
      streams.add(response);
      const beats = setInterval(() => response.write(': \n\n'), 200);
      response.on('close', () => {
        clearInterval(beats);
        streams.delete(response);
      });
    } else if (pathname.startsWith('/nodes/plans/')) {
      const plan = plans.get(pathname.slice('/nodes/plans/'.length));
      response.writeHead(plan === undefined ? 404 : 200).end(plan);
    } else if (pathname.startsWith('/nodes/certificates/')) {
      answerSet(pathname.slice('/nodes/certificates/'.length), request, response);
    } else {
      request.resume().on('end', () => response.end('{}'));
    }
  }

  function answerSet(domain: string, request: IncomingMessage, response: ServerResponse): void {
    const json = names.get(domain)?.json ?? null;
    const nodeKey = String(request.headers['edgeplan-box-key']);
    const key = readBoxKey(Buffer.from(nodeKey, 'base64'));
    if (json === null || key === null) return void response.writeHead(404).end('{}');
    const honest = sha256Hex(json);
    const sealed = sealBox(key, Buffer.from(json), certificateSetContext(domain, honest));
    const asked = { domain, nodeKey, digest: honest, box: sealed };
    control.asked.push(asked);
    const { status = 200, digest = honest, box = sealed } = control.answer?.(asked) ?? {};
    response.writeHead(status, { 'content-type': 'application/octet-stream', 'edgeplan-digest': digest });
    response.end(box);
  }

  server.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const control: ScriptedControl = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    publicKey,
    change(domain, change) {
      const since = position;
      const entry = apply(domain, change);
      push(signed([entry], since));
      return entry;
    },
    changeAll(changes) {
      const all = [...changes];
      for (let at = 0; at < all.length; at += 500) {
        const since = position;
        const entries = all.slice(at, at + 500).map(([domain, change]) => apply(domain, change));
        push(signed(entries, since));
      }
    },
    replay: (entries) => push(signed(entries, 0)),
    answer: null,
    asked: [],
    introduced: [],
    away(now) {
      isAway = now;
      if (now) server.closeAllConnections();
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return control;
}

function eventOf(page: SignedPage): string {
  return `event: manifest\nid: ${page.manifest.through}\ndata: ${JSON.stringify(page)}\n\n`;
}
