/** A plain client for the node: one connection a request, nothing followed, nothing inflated. */
import { request } from 'node:http';
import { CACHE_HOST } from './edge-cache.ts';

export interface ClientOptions {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Leave the body as octets. */
  readonly binary?: boolean;
}

export interface ClientAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
  readonly octets: Buffer;
}

/** @throws Error when the answer breaks off */
export function get(port: number, path: string, options: ClientOptions = {}): Promise<ClientAnswer> {
  const { method = 'GET', headers = {}, body, binary = false } = options;
  return new Promise((resolve, reject) => {
    const outgoing = request({
      host: '127.0.0.1',
      port,
      path,
      method,
      agent: false,
      headers: { ...headers, host: CACHE_HOST },
    });
    outgoing.on('error', reject);
    outgoing.on('response', (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        const octets = Buffer.concat(chunks);
        const text = binary ? '' : octets.toString('latin1');
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text, octets });
      });
    });
    outgoing.end(body);
  });
}
