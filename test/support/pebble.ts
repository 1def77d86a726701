/** Pebble, the test authority of Let's Encrypt, as Debian has it. */
import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { Agent, get } from 'node:https';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { freePort } from './free-ports.ts';
import { makeCertificate, OPENSSL_MISSING } from './make-certificate.ts';
import { missingFile } from './requires.ts';

const PEBBLE = '/usr/bin/pebble';

/** Why tests that need it are left out; `null`: it is here. */
export const PEBBLE_MISSING = OPENSSL_MISSING ?? missingFile(PEBBLE, 'pebble');

export interface Pebble {
  readonly directoryUrl: string;
  /** A file with the certificate that it answers with. */
  readonly authority: string;
  /** Believes it. */
  readonly agent: Agent;
  /** Certificates that it has issued. */
  issued(): number;
  stop(): void;
}

export interface PebbleOptions {
  readonly folder: string;
  /** The resolver that it asks. */
  readonly dnsPort: number;
  /** Where it looks for answers to its challenges. */
  readonly httpPort: number;
  readonly tlsPort: number;
  /** A certificate's lifetime in seconds. Default: Pebble's own, five years. */
  readonly validitySec?: number;
  /** Percent of valid nonces that it rejects. Default: 0. */
  readonly nonceRejectPercent?: number;
  /** It waits a random time of up to so many seconds before each validation. Default: no wait. */
  readonly sleepSec?: number;
  /** It accepts every challenge without a request. Default: `false`. */
  readonly alwaysValid?: boolean;
}

/** Starts it; it answers when this resolves. */
export async function startPebble(options: PebbleOptions): Promise<Pebble> {
  const { folder, dnsPort, httpPort, tlsPort } = options;
  const [cert, key] = [join(folder, 'authority.crt'), join(folder, 'authority.key')];
  await makeCertificate({ names: ['localhost'], cert, key });
  const [port, management] = [await freePort(), await freePort()];
  const settings = {
    listenAddress: `127.0.0.1:${port}`,
    managementListenAddress: `127.0.0.1:${management}`,
    certificate: cert,
    privateKey: key,
    httpPort,
    tlsPort,
    ...(options.validitySec === undefined ? {} : { certificateValidityPeriod: options.validitySec }),
  };
  const file = join(folder, 'pebble.json');
  writeFileSync(file, JSON.stringify({ pebble: settings }));
  const pebble = spawn(PEBBLE, ['-config', file, '-dnsserver', `127.0.0.1:${dnsPort}`], {
    stdio: ['ignore', 'pipe', 'ignore'],
    env: { ...process.env, ...faultVariables(options) },
  });
  let issued = 0;
  createInterface(pebble.stdout).on('line', (line) => {
    if (line.includes('Issued certificate serial')) issued += 1;
  });
  const directoryUrl = `https://localhost:${port}/dir`;
  const agent = new Agent({
    ca: readFileSync(cert),
    lookup: (_host, _options, done) => done(null, [{ address: '127.0.0.1', family: 4 }]),
  });
  while ((await answers(directoryUrl, agent)) !== 200) {
    if (pebble.exitCode !== null) throw new Error(`pebble ended with ${pebble.exitCode}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  const stop = (): void => void pebble.kill();
  return { directoryUrl, authority: cert, agent, issued: () => issued, stop };
}

/** The environment that Pebble reads its faults from; an unset variable is a default of its own. */
function faultVariables({ nonceRejectPercent = 0, sleepSec, alwaysValid = false }: PebbleOptions) {
  return {
    PEBBLE_WFE_NONCEREJECT: String(nonceRejectPercent),
    PEBBLE_AUTHZREUSE: '0',
    PEBBLE_VA_NOSLEEP: sleepSec === undefined ? '1' : undefined,
    PEBBLE_VA_SLEEPTIME: sleepSec === undefined ? undefined : String(sleepSec),
    PEBBLE_VA_ALWAYS_VALID: alwaysValid ? '1' : undefined,
  };
}

async function answers(url: string, agent: Agent): Promise<number | undefined> {
  return new Promise((resolve) => {
    get(url, { agent }, (response) => {
      response.resume();
      resolve(response.statusCode);
    }).on('error', () => resolve(undefined));
  });
}
