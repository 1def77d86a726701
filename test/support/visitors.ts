/** Visitors who send requests all the time, and the load balancer that spreads them over the nodes that are ready. */
import { setTimeout as wait } from 'node:timers/promises';
import { until } from './until.ts';
import { type Answer, type Asking, ask, oneConnection, type WorkerNode } from './worker-node.ts';

export interface Balancer {
  /** Adds a node under a name, in the place of the one that had it; it gets requests once it is ready. */
  put(name: string, node: WorkerNode): void;
  /** The next node that is ready, in turns; `null`: none is. */
  next(): WorkerNode | null;
  /** Nodes that get requests now. */
  ready(): readonly WorkerNode[];
  /** Names of the others, with reasons. */
  unready(): readonly string[];
  stop(): Promise<void>;
}

/** Milliseconds between two questions to each node whether it is ready, well below the time that a node drains. */
const READINESS_MS = 50;

export function startBalancer(): Balancer {
  const nodes = new Map<string, WorkerNode>();
  let ready: readonly WorkerNode[] = [];
  let unready: readonly string[] = [];
  let turn = 0;
  let stopping = false;
  const looking = (async () => {
    while (!stopping) {
      const asked = [...nodes].map(async ([name, node]) => [name, node, await whyUnready(node)] as const);
      const answers = await Promise.all(asked);
      ready = answers.flatMap(([, node, reason]) => (reason === null ? [node] : []));
      unready = answers.flatMap(([name, , reason]) => (reason === null ? [] : [`${name}: ${reason}`]));
      await wait(READINESS_MS);
    }
  })();
  return {
    put: (name, node) => void nodes.set(name, node),
    next: () => ready[turn++ % ready.length] ?? null,
    ready: () => ready,
    unready: () => unready,
    async stop() {
      stopping = true;
      await looking;
    },
  };
}

/** Why a node gets no requests; `null`: it gets some. */
async function whyUnready(node: WorkerNode): Promise<string | null> {
  try {
    const { status, text } = await node.operated('/readyz');
    return status === 200 ? null : `/readyz answers ${status} ${text}`;
  } catch (error) {
    // A node that has ended answers nothing.
    return (error as Error).message;
  }
}

/** A request and what its answer has to be. */
export interface Visit extends Pick<Asking, 'path' | 'headers' | 'body'> {
  isRight(answer: Answer): boolean;
}

export interface Visitor {
  /** What it asks for, again and again. */
  readonly visits: readonly Visit[];
  /** A connection to each node that is used again, or one for each request. */
  readonly connections: 'kept' | 'new';
}

export interface Visitors {
  /** Requests that a node answered as they should be. */
  answeredBy(node: WorkerNode): number;
  /** Waits until some requests more were sent and answered, whichever way. */
  more(): Promise<void>;
  /** Requests that were not answered, and answers that were wrong; the first of them. */
  readonly failed: readonly string[];
  /** Ends once every request is answered. */
  stop(): Promise<void>;
}

/** Milliseconds that a visitor rests after each answer. */
const REST_MS = 15;
/** Requests that `more` waits for. */
const MORE = 100;
/** Failures that are listed. */
const MOST_FAILED = 20;
const PATIENCE_MS = 60_000;

export function startVisitors(balancer: Balancer, visitors: readonly Visitor[]): Visitors {
  const failed: string[] = [];
  const answered = new Map<WorkerNode, number>();
  let done = 0;
  let stopping = false;

  function fail(sentence: string): void {
    if (failed.length < MOST_FAILED) failed.push(sentence);
  }

  async function visit({ isRight, ...asked }: Visit, agents: Agents | null): Promise<void> {
    const node = balancer.next();
    if (node === null) return fail(`${asked.path}: no node is ready (${balancer.unready()})`);
    try {
      const agent = agents?.(node);
      const answer = await ask({ ...asked, port: node.port, ...(agent === undefined ? {} : { agent }) });
      if (isRight(answer)) answered.set(node, (answered.get(node) ?? 0) + 1);
      else fail(`${asked.path}: ${answer.status} ${answer.text.slice(0, 200)}`);
    } catch (error) {
      fail(`${asked.path}: ${(error as Error).message}`);
    }
  }

  const running = visitors.map(async ({ visits, connections }, which) => {
    const agents = connections === 'kept' ? createAgents() : null;
    // Each begins with another one, so that not all ask for the same.
    for (let turn = which; !stopping; turn++) {
      await visit(visits[turn % visits.length]!, agents);
      done++;
      await wait(REST_MS);
    }
  });

  return {
    answeredBy: (node) => answered.get(node) ?? 0,
    async more() {
      const enough = done + MORE;
      await until(() => done >= enough, 'more requests', PATIENCE_MS);
    },
    failed,
    async stop() {
      stopping = true;
      await Promise.all(running);
    },
  };
}

type Agents = (node: WorkerNode) => ReturnType<typeof oneConnection>;

/** One connection to each node; that of a node which has ended is closed by it. */
function createAgents(): Agents {
  const agents = new Map<WorkerNode, ReturnType<typeof oneConnection>>();
  return (node) => {
    const agent = agents.get(node) ?? oneConnection();
    agents.set(node, agent);
    return agent;
  };
}
