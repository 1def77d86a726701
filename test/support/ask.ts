/** A plain HTTP client for tests, and a visitor that solves challenges. */
import { request as httpRequest } from 'node:http';
import { solveChallenge } from 'altcha-lib';
import { deriveKey } from 'altcha-lib/algorithms/pbkdf2';

export interface Answer {
  readonly status: number;
  readonly headers: Record<string, string | string[] | undefined>;
  readonly body: string;
}

export interface Sent {
  readonly method?: string;
  readonly host?: string;
  /** A list is sent as one line for each value. */
  readonly headers?: Record<string, string | string[]>;
  readonly body?: string | Uint8Array;
  /** The visitor's address, told by a trusted proxy; `null`: without such a header. */
  readonly from?: string | null;
  /** The address of this machine that it is sent from; default: the system's choice. */
  readonly localAddress?: string;
}

/** One request on a connection of its own. */
export function ask(
  port: number,
  path: string,
  {
    method = 'GET',
    host = 'shop.localhost',
    headers = {},
    body,
    from = '203.0.113.7',
    localAddress,
  }: Sent = {},
): Promise<Answer> {
  const forwarded = from === null ? {} : { 'x-forwarded-for': from };
  const sent = { host, ...forwarded, 'user-agent': 'test/1', ...headers };
  return new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port, path, method, headers: sent, agent: false, localAddress };
    const request = httpRequest(options, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
      });
      response.on('error', reject);
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text }),
      );
    });
    request.on('error', reject);
    request.end(body);
  });
}

/** What a challenge page asks, solved by the package's own solver. */
export async function solve(page: Answer): Promise<string> {
  const [, data = ''] =
    /<script type="application\/json" id="challenge">(.*?)<\/script>/.exec(page.body) ?? [];
  const challenge = JSON.parse(data);
  const solution = await solveChallenge({ challenge, deriveKey });
  return Buffer.from(JSON.stringify({ challenge, solution })).toString('base64');
}

/** Hands a proof in; the clearance comes as a cookie. */
export function hand(
  port: number,
  proof: string,
  { back = '/members/a', ...sent }: Sent & { readonly back?: string } = {},
): Promise<Answer> {
  const body = new URLSearchParams({ proof, back }).toString();
  const headers = { 'content-type': 'application/x-www-form-urlencoded', ...sent.headers };
  return ask(port, '/.well-known/edgeplan/proof', { ...sent, method: 'POST', headers, body });
}
