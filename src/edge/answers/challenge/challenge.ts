/**
 * Challenges. In: a decision to challenge, and later a proof of work. Out: a page whose script solves it in the browser
 * without the visitor's help, and a signed cookie (the clearance) that is valid for a while. The only state is which proofs
 * were used.
 *
 * A proof and a clearance are bound to the domain, the challenger (a rule, or a record's own switch), the client's network
 * and its User-Agent. An unknown address is never cleared.
 */
import type { Challenge } from 'altcha-lib/types';
import { parseIp } from '../../../base/addresses/ip.ts';
import type { EdgeAnswer } from '../../../base/http/header-fields.ts';
import { webSha256 } from '../../../base/platform/web-cryptography.ts';
import { refText } from '../../../engine/evaluator/identity.ts';
import { type Decided, requestHeader } from '../decided.ts';
import { escaped, htmlPage, ID_HEADER, listsHtml, PAGE_STYLE, pageAnswer, referenceLine } from '../pages.ts';
import {
  type ClearanceKeys,
  clearedBy,
  createKeyring,
  fromBase64,
  grant,
  mayHoldOwn,
  type Secrets,
  sign,
  toBase64,
  toBase64url,
  withoutOwn,
} from './keys.ts';
import { createProofs, type ProofOptions, type Proofs, SOLVER } from './proof.ts';

/**
 * Rounds of PBKDF2 for one attempt, and what a key has to begin with: 256 attempts on average. Over https a browser's own
 * crypto does it: half a second on average in Chromium on a core of an AMD EPYC. On plain HTTP the page's script has to,
 * which takes four times as long. To check one takes 2 to 3 ms of a thread.
 */
const COST = 5_000;
/**
 * Maximum length, in characters, of the address to return to after a challenge; if it is longer, the visitor returns to
 * the root. In the form each character may take three octets, and the proof next to it takes less than two thousand:
 * both stay within `MAX_PROOF_OCTETS`.
 */
const MAX_BACK = 2_048;

// What identifies the visitor that solved a challenge: the client's network and its User-Agent (semantics §5).

const words = new Uint32Array(4);

/** The client's /24 or /64; `null` for an unknown address, which is never cleared. */
function networkOf(ip: string | null): string | null {
  if (ip === null) return null;
  const family = parseIp(ip, words);
  if (family === 0) return null;
  if (family === 4) return `4 ${words[0]! >>> 8}`;
  return `6 ${words[0]!.toString(16)} ${words[1]!.toString(16)}`;
}

// The page of a challenge: small, plain, with a dark variant, for keyboards and screen readers; it loads nothing.

/** The path that proofs are posted to. */
const PROOF_PATH = '/.well-known/edgeplan/proof';

const STYLE = [
  PAGE_STYLE,
  // Each engine has names of its own for the parts, and one list of both would be void in either.
  'progress{appearance:none;width:100%;height:.75rem;margin:.75rem 0 0;border:0;border-radius:.375rem;overflow:hidden;background:var(--line)}',
  'progress::-webkit-progress-bar{background:var(--line)}',
  'progress::-webkit-progress-value{background:#1f6feb}',
  'progress::-moz-progress-bar{background:#1f6feb}',
  'button{font:inherit;padding:.5rem 1rem;margin:.5rem 0 0}',
  'noscript p{font-weight:600}',
].join('');

async function hashOf(text: string): Promise<string> {
  return `'sha256-${toBase64(await webSha256(text))}'`;
}

let hashes: Promise<readonly [script: string, style: string]> | null = null;

/** Name and value: only this script and this style, and a form that only this host gets. */
async function challengeCsp(): Promise<readonly [name: string, value: string]> {
  // At the first challenge and not when this is loaded: Workers have no crypto for that.
  hashes ??= Promise.all([hashOf(SOLVER), hashOf(STYLE)]);
  const [script, style] = await hashes;
  return [
    'Content-Security-Policy',
    `default-src 'none'; script-src ${script}; style-src ${style}; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`,
  ];
}

/** What the page shows. */
export interface ChallengePageInput {
  /** The decision id. */
  readonly id: string;
  /** `null`: none can be solved; the visitor's address is unknown, so no clearance could be bound to it, or `waitSec` says when. */
  readonly challenge: Challenge | null;
  /** Seconds after which a visitor who solved the challenge already is let through at the latest; `null`: not solved. */
  readonly waitSec: number | null;
  /** Path and query to go back to. */
  readonly back: string;
}

export function challengePage({ id, challenge, waitSec, back }: ChallengePageInput): string {
  const title = waitSec === null ? 'A quick check of your browser' : 'Too many requests';
  return htmlPage({
    title,
    style: STYLE,
    main: [
      `<h1>${title}</h1>`,
      ...(challenge !== null ? asking(challenge, back) : waitSec === null ? UNKNOWN : tooMany(waitSec)),
      referenceLine(escaped(id)),
    ],
    after: challenge === null ? [] : [`<script>${SOLVER}</script>`],
  });
}

const UNKNOWN = [
  '<p>This site checks each browser once before it opens. The check cannot be made here, because the address of your connection is unknown.</p>',
  '<p>If this continues, send the reference below to the owner of this site.</p>',
] as const;

/** For a visitor who solved the challenge of a rate limit and exceeds the higher limit that holds then. */
function tooMany(waitSec: number): readonly string[] {
  const wait = waitSec === 1 ? '1 second' : `${waitSec} seconds`;
  return [
    `<p>Your browser has passed the check of this site and has sent too many requests since. Wait up to ${wait}, then load this page again.</p>`,
  ];
}

function asking(challenge: Challenge, back: string): readonly string[] {
  // Inside a script element only `<` could end it early.
  const data = JSON.stringify(challenge).replaceAll('<', '\\u003c');
  return [
    '<p>This site checks each browser once before it opens. Your browser solves a small calculation by itself, which takes a few seconds; you need not do anything.</p>',
    // The text without the script, whose first statement replaces it: JavaScript may be off, or blocked for this page.
    '<p id="status" role="status">The check has not started: it needs JavaScript.</p>',
    '<progress id="bar" aria-labelledby="status" max="100" hidden></progress>',
    `<form id="form" method="post" action="${PROOF_PATH}">`,
    '<input type="hidden" name="proof" value="">',
    `<input type="hidden" name="back" value="${escaped(back)}">`,
    '<button id="again" type="button" hidden>Start the check</button>',
    '</form>',
    '<noscript><p>JavaScript is off in this browser. Turn it on for this site in the settings of the browser, then load this page again.</p></noscript>',
    `<script type="application/json" id="challenge">${data}</script>`,
  ];
}

/** Makes challenges, checks proofs, and issues and checks clearances. */
export interface Challenges {
  /** The challenges that the visitor has solved and whose clearance is valid, from its cookies; synchronous without one. */
  cleared(visit: ChallengeVisit): readonly string[] | Promise<readonly string[]>;
  /** A Cookie header without the edge's own cookies, which no origin gets. */
  withoutOwn(cookies: string): string;
  /** The answer to a decision to challenge. */
  ask(decided: Decided): EdgeAnswer | Promise<EdgeAnswer>;
  /** Answers `/.well-known/edgeplan/*`. `body` is at most `MAX_PROOF_OCTETS`. */
  answerOwn(decided: Decided, body: Uint8Array): EdgeAnswer | Promise<EdgeAnswer>;
}

/** Challenges whose used proofs another process can get. */
export interface SharedChallenges extends Challenges {
  /** As `Proofs`. */
  readonly usedProofs: Proofs['used'];
  readonly addUsedProofs: Proofs['addUsed'];
}

/** The request whose cookies are checked. */
export interface ChallengeVisit {
  readonly domain: string;
  readonly ip: string | null;
  readonly userAgent: string;
  /** The Cookie header. */
  readonly cookies: string;
  readonly now: number;
}

/** Secrets, and the cost of a proof. */
export interface ChallengeOptions {
  /** The secrets of a domain; called at every use, so that they may change while the node runs. */
  readonly secrets: (domain: string) => Secrets;
  /** For tests: rounds of PBKDF2 for one attempt; default `COST`. */
  readonly cost?: number;
  /** As `ProofOptions`. */
  readonly onUsed?: ProofOptions['onUsed'];
}

const NOT_STORED = ['Cache-Control', 'no-store'] as const;
const OWN_PREFIX = '/.well-known/edgeplan/';
const NOTHING: readonly string[] = Object.freeze([]);

/** Challenges without any used proof. */
export function createChallenges(options: ChallengeOptions): SharedChallenges {
  const keys = createKeyring(options.secrets);
  const proofs = createProofs({ keys, onUsed: options.onUsed });

  return {
    withoutOwn,
    usedProofs: proofs.used,
    addUsedProofs: proofs.addUsed,
    cleared({ domain, ip, userAgent, cookies, now }) {
      const network = mayHoldOwn(cookies) ? networkOf(ip) : null;
      if (network === null) return NOTHING;
      return keys(domain, now).then((all) => clearedBy(all, cookies, { domain, network, userAgent, now }));
    },
    async ask(decided) {
      const { id, request, decision, domain } = decided;
      if (!listsHtml(requestHeader(decided, 'accept'))) return jsonAnswer(id);
      const network = networkOf(request.ip ?? null);
      const { rule } = decision;
      const cost = options.cost ?? COST;
      const userAgent = requestHeader(decided, 'user-agent');
      const now = request.now ?? Date.now();
      const tooMany = rule !== null && request.cleared?.includes(refText(rule)) === true;
      const challenge =
        network === null || rule === null || tooMany
          ? null
          : await proofs.ask(
              {
                domain: domain.name,
                asker: refText(rule),
                seconds: domain.evaluator.clearanceSec(rule),
                visitor: await visitorOf((await keys(domain.name, now))[0]!, { network, userAgent }),
              },
              { now, cost },
            );
      // A rate limit has a second bound for those who solved its challenge: to solve it again is no help.
      const waitSec = tooMany ? domain.evaluator.clearanceSec(rule) : null;
      const body = challengePage({ id, challenge, waitSec, back: safeBack(request.target) });
      const html = ['Content-Type', 'text/html; charset=utf-8', ...NOT_STORED, ID_HEADER, id];
      return { status: 403, headers: [...html, ...(await challengeCsp())], body };
    },
    async answerOwn(decided, body) {
      const { id, request, domain } = decided;
      const refuse = (status: number, more: readonly string[] = []): EdgeAnswer =>
        pageAnswer({ status, id }, requestHeader(decided, 'accept'), more);
      if (request.target.split('?', 1)[0] !== PROOF_PATH) return refuse(404);
      if (request.method !== 'POST') return refuse(405, ['Allow', 'POST']);
      const form = new URLSearchParams(new TextDecoder().decode(body));
      const claimed = readProof(form.get('proof') ?? '');
      if (claimed === null) return refuse(400);
      const back = ['Location', safeBack(form.get('back') ?? '/'), ...NOT_STORED, ID_HEADER, id];
      const network = networkOf(request.ip ?? null);
      const userAgent = requestHeader(decided, 'user-agent');
      const now = request.now ?? Date.now();
      const proven = network === null ? null : await proofs.check(claimed, { domain: domain.name, now });
      // A visitor that is not cleared is challenged again at the target of this redirect.
      const elsewhere = { status: 303, headers: back, body: null };
      if (proven === null || network === null) return elsewhere;
      const all = await keys(domain.name, now);
      const visitors = await Promise.all(all.map((one) => visitorOf(one, { network, userAgent })));
      if (!visitors.includes(proven.visitor)) return elsewhere;
      const { asker, seconds } = proven;
      const secure = request.scheme === 'https';
      const to = { domain: domain.name, network, userAgent };
      const cookie = await grant(all[0]!, { ...to, asker, seconds, secure, now });
      return { ...elsewhere, headers: [...back, 'Set-Cookie', cookie] };
    },
  };
}

function jsonAnswer(id: string): EdgeAnswer {
  const headers = ['Content-Type', 'application/json', ...NOT_STORED, ID_HEADER, id];
  return { status: 403, headers, body: `${JSON.stringify({ error: 'challenge required' })}\n` };
}

/** Network and User-Agent as a proof contains them: a digest, from which neither can be read. */
async function visitorOf(
  keys: ClearanceKeys,
  { network, userAgent }: { network: string; userAgent: string },
): Promise<string> {
  return toBase64url(await sign(keys.clearance, JSON.stringify(['visitor', network, userAgent])));
}

function readProof(text: string): unknown {
  const octets = fromBase64(text);
  try {
    return octets === null ? null : JSON.parse(new TextDecoder().decode(octets));
  } catch {
    // Not JSON: answered with 400.
    return null;
  }
}

/** A path on this host, whatever the target: it begins with exactly one slash and has no character that a header cannot. */
function safeBack(target: string): string {
  if (target.length > MAX_BACK || !target.startsWith('/') || target.startsWith(OWN_PREFIX)) return '/';
  const second = target.charCodeAt(1);
  // `//host` and `/\host` lead elsewhere.
  if (second === 47 || second === 92) return '/';
  for (let at = 0; at < target.length; at++) {
    const code = target.charCodeAt(at);
    if (code <= 32 || code >= 127 || code === 92) return '/';
  }
  return target;
}
