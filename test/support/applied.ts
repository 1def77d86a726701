/** Edge files that are applied to a server: a process of its own for the tests of a file, and a new domain for each test. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach } from 'vitest';
import { builtCli, type Run } from './built.ts';
import { type Served, serve } from './served.ts';

/** The server, the domain of the test, and its edge file. */
export interface Applied {
  readonly server: Served;
  readonly domain: string;
  /** The output of `apply` where nothing is to be done. */
  readonly nothing: string;
  /** A path in the folder of the server, where commands run. */
  at(...names: string[]): string;
  /** Writes `edge.yaml` with the domain and a text. */
  save(text: string): void;
  apply(...flags: string[]): Promise<Run>;
  /** The body of an answer to GET below the domain. */
  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
  get(path: string): Promise<any>;
}

/** Starts the server before the tests of a file. @param name the name of the domains before their number @param usual flags of each `apply` */
export function applied(name: string, usual: readonly string[] = []): Applied {
  let server: Served;
  let count = 0;
  const domain = (): string => `${name}${count}.test`;
  const at = (...names: string[]): string => join(server.folder, ...names);
  beforeAll(async () => {
    await builtCli();
    server = await serve({ tier: 'enterprise' });
  }, 600_000);
  afterAll(() => server.stop());
  beforeEach(async () => {
    count++;
    await server.domain(domain());
  });
  return {
    get server() {
      return server;
    },
    get domain() {
      return domain();
    },
    get nothing() {
      return `no changes: ${domain()} matches the file\n`;
    },
    at,
    save: (text) => writeFileSync(at('edge.yaml'), `domain: ${domain()}\n${text}`),
    apply: (...flags) => server.run(['apply', ...usual, ...flags]),
    get: async (path) => (await server.call('GET', `/domains/${domain()}/${path}`)).body,
  };
}
