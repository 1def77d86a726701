/**
 * Ordinary traffic: requests that people's browsers and programs send every day, in which no signature should see an
 * attack. The same seed gives the same requests.
 */
import type { EdgeRequest } from '../../../src/engine/evaluator/request.ts';
import { seeded } from '../generate-random.ts';
import { analytics, chat, errorReport, graphql, jsonRpc, nested, payment, push } from './apis.ts';
import { readMaterial } from './material.ts';
import { binary, hooksAsForms, readers, verbs } from './programs.ts';
import { type Draft, type Kind, posts } from './scene.ts';
import { code, plainText, prose, richText, searches } from './texts.ts';
import { addresses, cookies, logins, pages, uploads, urlsInArguments } from './visits.ts';

export interface OrdinaryRequest {
  readonly kind: string;
  /** A lesson about attacks: it is counted apart. */
  readonly hard: boolean;
  readonly request: EdgeRequest;
}

/** What the traffic is made of, in order. */
const KINDS: Readonly<Record<string, Kind>> = {
  prose,
  code,
  pages,
  searches,
  addresses,
  logins,
  'urls in arguments': urlsInArguments,
  cookies,
  'rich text': richText,
  graphql: (scene) => posts(scene, { count: 60, target: '/graphql', make: graphql }),
  'json-rpc': (scene) => posts(scene, { count: 40, target: '/rpc', make: jsonRpc }),
  'nested json': (scene) => posts(scene, { count: 160, target: '/api/documents', make: nested }),
  payments: (scene) => posts(scene, { count: 30, target: '/hooks/payment', make: payment }),
  pushes: (scene) => posts(scene, { count: 40, target: '/hooks/git', make: push }),
  chats: (scene) => posts(scene, { count: 30, target: '/hooks/chat', make: chat }),
  errors: (scene) => posts(scene, { count: 20, target: '/api/1/envelope/', make: errorReport }),
  analytics: (scene) => posts(scene, { count: 60, target: '/v1/batch', make: analytics }),
  'hooks as forms': hooksAsForms,
  verbs,
  binary,
  uploads,
  readers,
  'plain text': plainText,
};

/** Every ordinary request. */
export function ordinaryTraffic(seed = 20_240_512): readonly OrdinaryRequest[] {
  const scene = { random: seeded(seed), material: readMaterial() };
  return Object.entries(KINDS).flatMap(([kind, make]) =>
    make(scene).map((draft) => ({ kind, hard: draft.hard === true, request: requestOf(draft) })),
  );
}

function requestOf({ method, target, headers, body }: Draft): EdgeRequest {
  const sent =
    body === undefined
      ? headers
      : {
          ...headers,
          'content-type': body.contentType,
          'content-length': String(Buffer.byteLength(body.body)),
        };
  return {
    scheme: 'https',
    method: method ?? (body === undefined ? 'GET' : 'POST'),
    host: 'shop.example.com',
    target,
    headers: sent,
    ip: '198.51.100.4',
    ...(body === undefined ? {} : { body: body.body }),
  };
}
