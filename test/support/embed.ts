/** Plans, signatures and servers for edges inside applications. */
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { compile, parseRuleSet, seal } from '../../src/engine/compiler/index.ts';
import { sealSignatures } from '../../src/engine/plan/seal-signatures.ts';
import { compileSignatures } from '../../src/engine/waf/seclang/compile.ts';

export interface PlanText {
  readonly domain?: string;
  /** Settings of the domain. */
  readonly settings?: Readonly<Record<string, unknown>>;
  /** Default: the apex, and a name whose visitors solve a challenge. */
  readonly records?: readonly Readonly<Record<string, unknown>>[];
  readonly rules?: readonly Readonly<Record<string, unknown>>[];
  readonly revision?: number;
}

const RECORDS = [
  { id: 5, name: '@', type: 'A', destination: '127.0.0.1', proxied: true },
  { id: 6, name: 'asks', type: 'A', destination: '127.0.0.1', proxied: true, captcha: true },
];

/** A sealed plan of a domain whose apex is proxied. */
export function sealedPlan({
  domain = 'shop.localhost',
  settings,
  records = RECORDS,
  rules = [],
  revision = 1,
}: PlanText): Uint8Array {
  const parsed = parseRuleSet({ domain: { name: domain, ...settings }, records, rules });
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.diagnostics));
  return seal(compile(parsed.ruleSet).plan, { revision });
}

/** One signature, for the word `attack` in any argument. */
export function sealedSignatures(): Uint8Array {
  const text = `SecRule ARGS "@contains attack" "id:1,phase:2,block,t:none,setvar:'tx.inbound_anomaly_score_pl1=+5'"`;
  const { program, diagnostics } = compileSignatures([{ file: 'test.conf', text }], { readData: () => null });
  if (program === null) throw new Error(JSON.stringify(diagnostics));
  return sealSignatures(program);
}

export interface Listening {
  readonly port: number;
  close(): Promise<void>;
}

/** Lets a server listen on any free port of the loopback. */
export async function listenLocally(
  server: Pick<Server, 'listen' | 'address' | 'close' | 'closeAllConnections'>,
): Promise<Listening> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
