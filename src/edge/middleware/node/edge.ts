/**
 * The edge inside a Node server. In: requests as `node:http` hands them out, before the application sees them. Out:
 * answers of the edge's own, or the request, whole, with the decision on it, for the application to answer.
 */
import { access } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { FastifyInstance, FastifyPluginCallback } from 'fastify';
import { checkOptions, FLAG, FUNCTION, type OptionKinds } from '../../../base/diagnostics/options.ts';
import type { ClientRequest, ClientResponse } from '../../../base/http/client-messages.ts';
import { isSignedBy, sha256 } from '../../../base/platform/cryptography.ts';
import type { WatchedFile } from '../../../base/platform/watched-file.ts';
import { createChallenges } from '../../answers/challenge/challenge.ts';
import type { Secrets } from '../../answers/challenge/keys.ts';
import { createCertificateVerifier } from '../../credentials/client-certificates.ts';
import { createCredentialVerifier } from '../../credentials/verify.ts';
import { createUnserved } from '../../decide/unserved.ts';
import { createDecisionReporter, type DecisionReporter, type EdgeVerdict } from '../../decide/verdict.ts';
import { secretsOf } from '../../following/secrets.ts';
import { createBotResolver, createClassifier, openClassificationFiles } from '../../proxy/classifier.ts';
import { trustProxies } from '../../proxy/visitor.ts';
import {
  CONTROL,
  COUNT,
  createSecrets,
  type InstalledPlan,
  LISTENERS,
  PLANS,
  SECRET,
  SIGNATURES,
  TEXT,
  TEXTS,
} from '../check-options.ts';
import { createJudge } from './judge.ts';
import type { NodeEdgeOptions, SyncStatus } from './options.ts';
import type { PlanSync, ServerParts } from './plan-server.ts';
import { type EdgePlans, openPlans } from './plans.ts';

type Application<Q, S> = (request: Q, response: S) => unknown;

/** An edge for `node:http`, `node:https`, `node:http2`, Express and Fastify. Its functions need no `this`. */
export interface NodeEdge {
  /**
   * Puts the edge in front of a request listener: `createServer(edge.wrap(app))`. Everything is enforced, and what the
   * application throws, or rejects with, is answered with 500.
   */
  wrap<Q extends ClientRequest = IncomingMessage, S extends ClientResponse = ServerResponse>(
    application: Application<Q, S>,
  ): (request: Q, response: S) => void;
  /** The same as middleware: `express().use(edge.handle)`. `next` is called for requests that are forwarded. */
  handle(request: ClientRequest, response: ClientResponse, next: (error?: unknown) => void): void;
  /**
   * The same as a Fastify plugin: `fastify.register(edge.fastify)`. Fastify has routed a request before its hooks, so
   * rewrites are reported and not done; `serverFactory: (handler) => createServer(edge.wrap(handler))` does them.
   */
  readonly fastify: FastifyPluginCallback;
  /** Handles an upgrade request (`server.on('upgrade', …)`). Calls `next` if the request is to be forwarded. */
  upgrade(request: ClientRequest, socket: Duplex, next: () => void): void;
  /**
   * Installs a sealed plan in place of the one its domain has, whole: a request sees the one or the other. Rate
   * counters go on.
   * @throws PlanFault when the bytes are no plan, or none that can serve; what was installed before stays
   */
  install(plan: Uint8Array): InstalledPlan;
  /** Removes a domain; its hosts belong to the longest name above it then, else they are answered 421. */
  remove(domain: string): void;
  /** Number of installed domains. */
  readonly size: number;
  /** The state of sync with `control`; `null` without it. */
  following(): SyncStatus | null;
  /** Stops watching files and following a control plane. Installed plans stay served. */
  close(): Promise<void>;
}

const OPTIONS: OptionKinds<NodeEdgeOptions> = {
  plans: PLANS,
  file: TEXT,
  control: CONTROL,
  trustProxy: TEXTS,
  publicPort: COUNT,
  secret: SECRET,
  signatures: SIGNATURES,
  countries: TEXT,
  asns: TEXT,
  botRanges: TEXT,
  botDns: FLAG,
  facts: FUNCTION,
  counterOctets: COUNT,
  openOctets: COUNT,
  ...LISTENERS,
};

/** Milliseconds between polls of the databases and the ranges of bots. */
const FILES_MS = 30_000;

/**
 * Makes an edge.
 * @throws PlanFault when one of `plans`, or `signatures`, cannot be opened; RangeError when `secret` is too short; Error
 * naming an entry of `trustProxy` that is no address, the errors of `file`, a missing `countries`, `asns` or `botRanges`, or why the folder of `control` cannot be used;
 * TypeError naming an option that is unknown or of a wrong kind
 * @example
 * ```ts
 * import { createServer } from 'node:http';
 * import { createEdge } from 'edgeplan/node';
 *
 * const edge = await createEdge({ file: 'edge.yaml' }); // follows the file as it changes
 * const server = createServer(
 *   edge.wrap((request, response) => {
 *     response.end(`decision ${request.edge?.id}\n`);
 *   }),
 * );
 * server.listen(8080);
 * ```
 */
export async function createEdge(options: NodeEdgeOptions = {}): Promise<NodeEdge> {
  checkOptions('createEdge', options, OPTIONS);
  const telling = createDecisionReporter(options);
  const trusted = trustProxies(options.trustProxy ?? []);
  const own = createSecrets(options.secret);
  let served: Secrets | null = null;
  const plans = openPlans(options, telling);
  function secretsAt(domain: string): Secrets {
    if (options.secret !== undefined) return own();
    const clearance = plans.table.clearanceOf(domain);
    return clearance === null ? (served ?? own()) : secretsOf(clearance);
  }
  const challenges = createChallenges({ secrets: secretsAt });
  const onSecrets: ServerParts['onSecrets'] = (secrets) => {
    served = secrets;
  };
  const { started, close } = createParts();
  await checkReadable(options);
  await started(follow(options, plans, telling), (followed) => followed?.stop());
  const files = await started(
    openClassificationFiles({
      countries: options.countries ?? null,
      asns: options.asns ?? null,
      ranges: options.botRanges ?? null,
      pollMs: FILES_MS,
      onProblem: ({ file, reason }) => telling.fault(new Error(reason), `the file \`${file}\``),
    }),
    (opened) => opened.close(),
  );
  const server = await started(
    followControlled(options, { table: plans.table, onSecrets, reporter: telling }),
    (followed) => followed?.stop(),
  );
  const classifier = createClassifier({
    countries: files.countries,
    asns: files.asns,
    ranges: files.ranges,
    resolver: options.botDns === false ? null : createBotResolver([]),
    clock: () => performance.now(),
  });
  const unserved = createUnserved({
    plans: plans.table,
    // The names of a control plane are customers'.
    listed: options.control === undefined,
    // Each refusal goes to `onRefusal`.
    onUnserved: () => undefined,
  });
  const credentials = createCredentialVerifier(sha256, createCertificateVerifier(isSignedBy));
  const services = { plans: plans.table, challenges, credentials, classifier, unserved };
  const judge = createJudge({ services, reporter: telling, trusted, options });

  function handle(request: ClientRequest, response: ClientResponse, next: () => unknown): void {
    void judge.serve(request, response, next);
  }

  return {
    wrap: (application) => (request, response) => {
      handle(request, response, () => application(request, response));
    },
    handle,
    fastify: fastifyPlugin(judge.request),
    upgrade: (request, socket, next) => void judge.upgrade(request, socket, next),
    install: plans.install,
    remove: (domain) => plans.table.delete(domain),
    get size() {
      return plans.table.size;
    },
    following: () => server?.state() ?? null,
    close,
  };
}

interface Parts {
  /** A part that outlives requests; one that does not start ends those before it. */
  started<T>(starting: Promise<T>, end: (part: T) => unknown): Promise<T>;
  /** Ends every part, the last started first. */
  close(): Promise<void>;
}

function createParts(): Parts {
  const endings: (() => unknown)[] = [];
  async function close(): Promise<void> {
    for (const end of endings.splice(0).reverse()) await end();
  }
  return {
    async started(starting, end) {
      const part = await starting.catch(async (error: unknown) => {
        await close();
        throw error;
      });
      endings.push(() => end(part));
      return part;
    },
    close,
  };
}

/** @throws Error naming the option whose file or folder is missing; later problems of its content go to `onFault` */
async function checkReadable({ countries, asns, botRanges }: NodeEdgeOptions): Promise<void> {
  for (const [name, path] of Object.entries({ countries, asns, botRanges })) {
    if (path === undefined) continue;
    await access(path).catch((cause: Error) => {
      throw new Error(`\`${name}\` cannot be read: ${cause.message}`, { cause });
    });
  }
}

async function follow(
  { file }: NodeEdgeOptions,
  plans: EdgePlans,
  telling: DecisionReporter,
): Promise<WatchedFile | null> {
  if (file === undefined) return null;
  // PERF: the compiler, YAML and the schemas take longer to load than all the rest; sealed plans need none of them.
  const { watchPlanFile: followPlanFile } = await import('./plan-file.ts');
  return followPlanFile(file, plans, telling);
}

async function followControlled({ control }: NodeEdgeOptions, parts: ServerParts): Promise<PlanSync | null> {
  if (control === undefined) return null;
  const { syncFromServer: followServer } = await import('./plan-server.ts');
  return followServer(control, parts);
}

// The edge as a Fastify plugin: an `onRequest` hook, which runs before everything else but routing.

type Decide = (request: ClientRequest, response: ClientResponse) => Promise<EdgeVerdict | null>;

/** @param judge decides a request; `null`: it is answered */
function fastifyPlugin(judge: Decide): FastifyPluginCallback {
  const plugin: FastifyPluginCallback = (fastify: FastifyInstance, _options, done) => {
    fastify.decorateRequest('edge');
    fastify.addHook('onRequest', (request, reply, next) => {
      const { raw } = request;
      // A server made with `edge.wrap` has decided the request before Fastify routed it.
      const judged = raw.edge === undefined ? judge(raw, reply.raw) : Promise.resolve(raw.edge);
      judged.then((verdict) => {
        if (verdict === null) return void reply.hijack();
        request.edge = verdict;
        next();
      }, next);
    });
    done();
  };
  // The hook is for the whole server, not for the plugins inside this one (fastify.dev, "Plugins Guide").
  return Object.assign(plugin, { [Symbol.for('skip-override')]: true });
}
