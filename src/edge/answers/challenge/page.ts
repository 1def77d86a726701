/** The page of a challenge: small, plain, with a dark variant, for keyboards and screen readers; it loads nothing. */
import type { Challenge } from 'altcha-lib/types';
import { escaped, htmlPage, PAGE_STYLE, referenceLine } from '../pages.ts';
import { toBase64 } from './base64.ts';
import { SOLVER } from './solver.ts';

/** The path that proofs are posted to. */
export const PROOF_PATH = '/.well-known/edgeplan/proof';

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
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
  return `'sha256-${toBase64(new Uint8Array(digest))}'`;
}

let hashes: Promise<readonly [script: string, style: string]> | null = null;

/** Name and value: only this script and this style, and a form that only this host gets. */
export async function challengeCsp(): Promise<readonly [name: string, value: string]> {
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
