/** One small application, as each framework writes it, behind an embedded edge. */
import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { getRequestListener, type HttpBindings } from '@hono/node-server';
import express from 'express';
import Fastify, { type FastifyInstance } from 'fastify';
import { type Context, Hono } from 'hono';
import {
  createEdge as createFetchEdge,
  type FetchEdgeOptions,
  type FetchFacts,
} from '../../src/edge/middleware/fetch/index.ts';
import {
  createEdge,
  type EdgeVerdict,
  type NodeEdge,
  type NodeEdgeOptions,
} from '../../src/edge/middleware/node/index.ts';
import { type Listening, listenLocally } from './embed.ts';

/** What the application says it got. */
export interface Seen {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly octets: number;
  readonly digest: string;
  readonly action: string;
  readonly ip: string | null;
  readonly id: string;
  readonly unenforced: readonly string[];
}

interface Got {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
  readonly edge: EdgeVerdict | undefined;
}

function seen({ method, url, headers, body, edge }: Got): Seen {
  return {
    method,
    url,
    headers: headers as Record<string, string>,
    octets: body.length,
    digest: createHash('sha256').update(body).digest('hex'),
    action: edge?.decision.action ?? 'nothing',
    ip: edge?.request.ip ?? null,
    id: edge?.id ?? '',
    unenforced: edge?.unenforced ?? [],
  };
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** `/status/<code>` answers that; `/boom` throws; everything else tells what came. */
async function plainApp(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { method = '', url = '', headers, edge } = request;
  const body = await bodyOf(request);
  if (url === '/boom') throw new Error('the application is broken');
  response.setHeader('X-Powered-By', 'test');
  if (url.startsWith('/status/')) {
    response.writeHead(Number(url.slice(8)), { 'Content-Type': 'text/plain', 'X-Own': 'yes' });
    response.write('the ');
    response.end('application says');
    return;
  }
  response.end(JSON.stringify(seen({ method, url, headers, body, edge })));
}

function expressApp(edge: NodeEdge): express.Express {
  const app = express();
  app.use(edge.handle);
  app.use(express.raw({ type: () => true, limit: '1mb' }));
  app.get('/boom', () => {
    throw new Error('the application is broken');
  });
  app.get('/status/:code', (request: express.Request, response: express.Response) => {
    response
      .status(Number(request.params['code']))
      .set('X-Own', 'yes')
      .type('text')
      .send('the application says');
  });
  app.use((request: express.Request, response: express.Response) => {
    const { method, url, headers } = request;
    const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
    response.json(seen({ method, url, headers, body, edge: request.edge }));
  });
  return app;
}

function fastifyRoutes(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
  app.get('/boom', () => {
    throw new Error('the application is broken');
  });
  app.get<{ Params: { code: string } }>('/status/:code', (request, reply) =>
    reply
      .code(Number(request.params.code))
      .headers({ 'X-Own': 'yes', 'X-Powered-By': 'test' })
      .type('text/plain')
      .send('the application says'),
  );
  app.all('/*', (request) => {
    const { method, url, headers, edge } = request;
    const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
    return seen({ method, url, headers, body, edge });
  });
}

async function listenFastify(app: FastifyInstance): Promise<Listening> {
  fastifyRoutes(app);
  const url = await app.listen({ port: 0, host: '127.0.0.1' });
  return { port: Number(new URL(url).port), close: async () => void (await app.close()) };
}

type Env = { Bindings: HttpBindings; Variables: { edge: EdgeVerdict } };

function honoRoutes(app: Hono<Env>, verdictOf: (request: Request) => EdgeVerdict | undefined): Hono<Env> {
  app.get('/boom', () => {
    throw new Error('the application is broken');
  });
  app.onError((_error, context) => context.text('broken', 500));
  app.get('/status/:code', (context) =>
    context.text('the application says', Number(context.req.param('code')) as 404, {
      'X-Own': 'yes',
      'X-Powered-By': 'test',
    }),
  );
  app.all('/*', async (context) => {
    const { raw } = context.req;
    const body = Buffer.from(await raw.arrayBuffer());
    const headers = Object.fromEntries(raw.headers);
    const url = raw.url.slice(new URL(raw.url).origin.length);
    const edge = context.get('edge') ?? verdictOf(raw);
    return context.json(seen({ method: raw.method, url, headers, body, edge }), 200, {
      'X-Powered-By': 'test',
    });
  });
  return app;
}

/** What a platform would tell: here a proxy in front, or the connection. */
function factsOf(request: Request, { incoming }: HttpBindings, trusts: boolean): FetchFacts {
  const forwarded = trusts ? request.headers.get('x-forwarded-for') : null;
  return { ip: forwarded ?? incoming.socket.remoteAddress ?? null, trusted: trusts };
}

export interface Application extends Listening {
  readonly edge: Pick<NodeEdge, 'install' | 'remove' | 'size'>;
}

export type ApplicationOptions = Omit<NodeEdgeOptions, 'facts'>;
type Starting = (options: ApplicationOptions) => Promise<Application>;

function inNode(listen: (edge: NodeEdge) => Promise<Listening>): Starting {
  return async (options) => {
    const edge = await createEdge(options);
    const { port, close } = await listen(edge);
    const closeAll = async (): Promise<void> => {
      await close();
      edge.close();
    };
    return { port, edge, close: closeAll };
  };
}

const isTrusting = ({ trustProxy = [] }: ApplicationOptions): boolean => trustProxy.length > 0;

/** Those that an edge before a `fetch` handler takes too. */
function fetchOptions(options: ApplicationOptions): FetchEdgeOptions {
  const { file, trustProxy, publicPort, countries, botRanges, botDns, openOctets, ...shared } = options;
  return shared;
}

export const APPLICATIONS = {
  'node:http': inNode((edge) => listenLocally(createServer(edge.wrap(plainApp)))),
  Express: inNode((edge) => listenLocally(createServer(expressApp(edge)))),
  'Fastify, as a plugin': inNode(async (edge) => {
    const app = Fastify({ forceCloseConnections: true });
    await app.register(edge.fastify);
    return listenFastify(app);
  }),
  'Fastify, wrapped': inNode(async (edge) => {
    const serverFactory = (handler: (request: IncomingMessage, response: ServerResponse) => void) =>
      createServer(edge.wrap(handler));
    const app = Fastify({ forceCloseConnections: true, serverFactory });
    await app.register(edge.fastify);
    return listenFastify(app);
  }),
  'Hono, as middleware': async (options) => {
    const edge = createFetchEdge(fetchOptions(options));
    const app = new Hono<Env>();
    app.use(edge.hono((context: Context<Env>) => factsOf(context.req.raw, context.env, isTrusting(options))));
    honoRoutes(app, () => undefined);
    const listening = await listenLocally(createServer(getRequestListener(app.fetch as never)));
    return { ...listening, edge };
  },
  'Hono, wrapped': async (options) => {
    const edge = createFetchEdge(fetchOptions(options));
    const verdicts = new WeakMap<Request, EdgeVerdict>();
    const app = honoRoutes(new Hono<Env>(), (request) => verdicts.get(request));
    const listener = getRequestListener((request, env) =>
      edge.handle(
        request,
        factsOf(request, env as HttpBindings, isTrusting(options)),
        (forwarded, verdict) => {
          verdicts.set(forwarded, verdict);
          return app.fetch(forwarded, env as HttpBindings);
        },
      ),
    );
    const listening = await listenLocally(createServer(listener));
    return { ...listening, edge };
  },
} as const satisfies Record<string, Starting>;
