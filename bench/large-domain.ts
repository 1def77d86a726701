/**
 * A domain that fills up: the last of 10,000 rules costs about as much to write as the first, while each of them is
 * published. Then all of them are put into another order.
 */
import { makeInstallation } from './data/installation.ts';
import { smallDomain } from './data/small-domains.ts';
import { type Load, openLoad, requestOctets } from './harness/load.ts';
import { startServe } from './harness/process.ts';
import { timed } from './harness/timed.ts';
import type { BenchOptions, Row } from './row.ts';

/** A domain has 10,000 at most, and this one has some before. */
const RULES = 9_900;
const QUICK_RULES = 200;
const CLIENTS = 8;
/** Parts of equal size, of which the first and the last are compared. */
const PARTS = 10;

interface Kind {
  readonly name: string;
  readonly slug: string;
  rule(at: number): object;
}

const KINDS: readonly Kind[] = [
  {
    name: 'drop rules with addresses',
    slug: 'drop',
    rule: (at) => ({ ips: [`10.${at >> 8}.${at & 255}.0/24`] }),
  },
  {
    name: 'redirect rules with regexes',
    slug: 'redirect',
    rule: (at) => ({ target: '/', path_match_type: 'regex', path_includes: [`^/r${at}/[a-z]+$`] }),
  },
];

export async function run({ quick }: BenchOptions): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (const kind of KINDS) rows.push(...(await fill(kind, quick ? QUICK_RULES : RULES)));
  return rows;
}

async function fill({ name, slug, rule }: Kind, rules: number): Promise<readonly Row[]> {
  const installation = await makeInstallation({ ruleSets: [smallDomain(1).ruleSet] });
  const server = await startServe(installation.folder);
  const { domains, key: token } = installation;
  const below = `/domains/${domains[0]!.domain.name}`;
  const path = `${below}/rules/${slug}/`;
  const load = await openLoad({ port: server.port, connections: CLIENTS, sleepless: false });
  try {
    let written = 0;
    const next = (): Buffer => requestOctets({ method: 'POST', path, token, body: rule(written++) });
    // The first request of a kind loads code.
    await load.run(CLIENTS, next);
    const parts: number[] = [];
    for (let part = 0; part < PARTS; part++) parts.push(await timed(() => load.run(rules / PARTS, next)));
    const publish = requestOctets({ method: 'POST', path: `${below}/plans/?wait=published`, token });
    const published = await timed(() => fine(load, publish));
    const listed = JSON.parse(await fine(load, requestOctets({ path, token }))) as { readonly id: number }[];
    const ids = listed.map(({ id }) => id).reverse();
    const reorder = requestOctets({ method: 'PUT', path: `${path}reorder`, token, body: { ids } });
    const reordered = await timed(() => fine(load, reorder));
    return rowsOf(name, { parts, published, reordered, perPart: rules / PARTS, count: ids.length });
  } finally {
    load.close();
    await server.stop();
    installation.remove();
  }
}

interface Filled {
  /** Milliseconds. */
  readonly parts: readonly number[];
  readonly published: number;
  readonly reordered: number;
  /** Rules. */
  readonly perPart: number;
  readonly count: number;
}

function rowsOf(name: string, { parts, published, reordered, perPart, count }: Filled): readonly Row[] {
  const [first, last] = [parts[0]!, parts.at(-1)!];
  const aWrite = (part: number): string => ((part * CLIENTS) / perPart).toFixed(1);
  const seconds = (milliseconds: number): string => (milliseconds / 1_000).toFixed(1);
  const all = parts.reduce((sum, part) => sum + part);
  return [
    {
      name: `${name}: the last ${perPart} of ${count} ÷ the first`,
      value: last / first,
      goal: { atMost: 1.5 },
      unit: '×',
      note: `${CLIENTS} clients; ${aWrite(last)} ms and ${aWrite(first)} ms a write, ${seconds(all)} s in all, published ${seconds(published)} s later`,
    },
    {
      name: 'another order of them',
      value: reordered / 1_000,
      goal: { atMost: 2 },
      unit: 's',
      note: 'one request',
    },
  ];
}

/** The body of an answer that must be a 200. */
async function fine(load: Load, request: Buffer): Promise<string> {
  const { status, body } = await load.ask(request);
  if (status !== 200) throw new Error(`the server answered ${status}: ${body}`);
  return body;
}
