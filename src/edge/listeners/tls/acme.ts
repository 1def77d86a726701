/**
 * Obtains certificates by ACME (RFC 8555), with the HTTP-01 challenge. In: the names that need certificates. Out: a file for
 * each in the certificates' folder (`certificates.ts` reads it), obtained if it is missing and renewed before it expires.
 * A name that fails is reported, and tried again at growing intervals; others are not delayed.
 */
import { createPrivateKey } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import acme from 'acme-client';
import { normalizeName } from '../../../base/addresses/host.ts';
import { makeFolder, removeUnfinished, writeDurably } from '../../../base/platform/durable-file.ts';
import { ACME_NAME_MS, ACME_REQUEST_MS } from '../../proxy/limits.ts';
import type { CertificatePair } from './certificate-pairs.ts';
import type { Certificates } from './certificates.ts';

/** The key authorizations of challenges by token, served under `/.well-known/acme-challenge/`. */
export type AcmeTokens = Map<string, string>;

/** Stores key authorizations. Every process of the node serves one when the returned promise, if any, has resolved. */
export interface TokenSink {
  set(token: string, answer: string): unknown;
  delete(token: string): unknown;
}

export interface AcmeOptions {
  readonly directoryUrl: string;
  /** The account's address for mail of the authority; `null`: none. */
  readonly email: string | null;
  /** The folder that `certificates` reads; keys and accounts are written for their owner alone. */
  readonly folder: string;
  readonly certificates: Certificates;
  /** The host names that need certificates now, without wildcards, which HTTP-01 cannot prove. Called at every pass. */
  readonly names: () => readonly string[];
  readonly tokens: TokenSink;
  /** Milliseconds between passes. */
  readonly checkMs: number;
  /** Milliseconds until a name that failed is tried again; doubled each time, at most a day. */
  readonly retryMs: number;
  /** Milliseconds between two polls of an order. */
  readonly askMs: number;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
  readonly onObtained: (name: string) => void;
  /** `name` is empty if `names` itself has thrown. */
  readonly onProblem: (name: string, error: unknown) => void;
}

export interface Acme {
  /** Obtains every certificate that is missing or expires soon; resolves when all are done. Never rejects. */
  pass(): Promise<void>;
  /** Ends the passes; one under way ends after its current name. */
  stop(): void;
}

/** The part of a certificate's lifetime that is left when it is renewed, but at most `RENEW_MS`. */
const LIFE_LEFT = 1 / 3;
const RENEW_MS = 30 * 86_400_000;
/** The ending of the files written here, which distinguishes them from others in the folder. */
const WRITTEN = '.acme.pem';
const LONGEST_RETRY_MS = 86_400_000;

interface Failure {
  /** Consecutive failures. */
  readonly times: number;
  /** The time of the next try, milliseconds since the epoch. */
  readonly notBefore: number;
}

/** Starts the passes over the names, the first at once. */
export function startAcme(options: AcmeOptions): Acme {
  const { names, onObtained, onProblem, checkMs, retryMs, clock } = options;
  const failures = new Map<string, Failure>();
  let stopped = false;
  let passing: Promise<void> | null = null;
  let client: Promise<acme.Client> | null = null;

  async function tryName(name: string): Promise<void> {
    try {
      client ??= createClient(options);
      await within(obtain(await client, options, name), ACME_NAME_MS);
      failures.delete(name);
      onObtained(name);
    } catch (error) {
      // The account itself may have failed, and is opened again at the next try.
      client = null;
      const times = (failures.get(name)?.times ?? 0) + 1;
      const wait = Math.min(retryMs * 2 ** (times - 1), LONGEST_RETRY_MS);
      failures.set(name, { times, notBefore: clock() + wait });
      onProblem(name, error);
    }
  }

  async function passOnce(): Promise<void> {
    const wanted = new Set(names());
    for (const name of failures.keys()) if (!wanted.has(name)) failures.delete(name);
    for (const name of wanted) {
      if (stopped) return;
      if (!isWaiting(failures.get(name), clock()) && isDue(options.certificates.find(name), name, clock()))
        await tryName(name);
    }
  }

  function pass(): Promise<void> {
    passing ??= passOnce()
      .catch((error: unknown) => onProblem('', error))
      .finally(() => {
        passing = null;
      });
    return passing;
  }

  const timer = setInterval(() => void pass(), checkMs);
  timer.unref();
  void pass();
  return {
    pass,
    stop() {
      stopped = true;
      clearInterval(timer);
    },
  };
}

/** Whether the next try is still due later. One beyond the longest interval was set before the clock was set back. */
function isWaiting(failure: Failure | undefined, now: number): boolean {
  if (failure === undefined) return false;
  return now < failure.notBefore && failure.notBefore - now <= LONGEST_RETRY_MS;
}

/** Whether a name has no certificate of its own, or one that expires soon. */
function isDue(pair: CertificatePair | null, name: string, now: number): boolean {
  if (pair === null || !covers(pair, name)) return true;
  const life = pair.notAfter - pair.notBefore;
  return pair.notAfter - now < Math.min(RENEW_MS, life * LIFE_LEFT);
}

/** Whether a certificate is for the name; `find` returns the fallback for names without one. */
function covers({ names }: CertificatePair, name: string): boolean {
  return names.includes(name) || names.includes(`*${name.slice(name.indexOf('.'))}`);
}

async function createClient({ directoryUrl, folder, askMs }: AcmeOptions): Promise<acme.Client> {
  acme.axios.defaults.timeout = ACME_REQUEST_MS;
  const accountKey = await readAccount(folder);
  return new acme.Client({ directoryUrl, accountKey, backoffMin: askMs, backoffMax: 4 * askMs });
}

/** The account's key, created at the first use: all orders of a node belong to one account. */
async function readAccount(folder: string): Promise<string> {
  await removeUnfinished(folder, (name) => name.includes(WRITTEN));
  const hidden = join(folder, '.acme');
  const file = join(hidden, 'account.key');
  makeFolder(hidden, { mode: 0o700 });
  const known = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
  if (known !== null) {
    createPrivateKey(known);
    return known;
  }
  const made = (await acme.crypto.createPrivateEcdsaKey()).toString();
  await writeDurably(file, made);
  return made;
}

async function obtain(client: acme.Client, options: AcmeOptions, name: string): Promise<void> {
  const { email, folder, tokens, certificates } = options;
  if (normalizeName(name) !== name || name.includes('*')) throw new Error(`\`${name}\` is no host name`);
  const [key, csr] = await acme.crypto.createCsr(
    { altNames: [name] },
    await acme.crypto.createPrivateEcdsaKey(),
  );
  const chain = await client.auto({
    csr,
    ...(email === null ? {} : { email }),
    termsOfServiceAgreed: true,
    challengePriority: ['http-01'],
    // The authority checks whether the name resolves to this node; the check from here may fail although its own succeeds.
    skipChallengeVerification: true,
    challengeCreateFn: async (_authorization, { type, token }, answer) => {
      if (type !== 'http-01') throw new Error('the authority offers no http-01 challenge for this name');
      await tokens.set(token, answer);
    },
    challengeRemoveFn: async (_authorization, { token }) => {
      await tokens.delete(token);
    },
  });
  // Key and certificate in one file are replaced together.
  await writeDurably(join(folder, `${name}${WRITTEN}`), `${key.toString().trim()}\n${chain.trim()}\n`);
  await certificates.reload();
}

async function within<T>(work: Promise<T>, ms: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`there was no certificate within ${ms / 1_000} seconds`)), ms);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}
