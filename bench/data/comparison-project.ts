/**
 * The attack half of the WAF Comparison Project: the payloads of `openappsec/mgm-web-attack-payloads`, which are not part of
 * this repository, placed as its templates for nuclei place them. `EDGEPLAN_SUITES` names the folder of the checkout.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { EdgeRequest } from '../../src/engine/evaluator/request.ts';

export const ATTACK_KINDS = ['cmdexe', 'log4shell', 'shellshock', 'sqli', 'traversal', 'xss', 'xxe'] as const;
export type AttackKind = (typeof ATTACK_KINDS)[number];

export const BROWSER = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:105.0) Gecko/20100101 Firefox/105.0';
const FORM = 'application/x-www-form-urlencoded';

/** The folder of the payloads; `null`: there is no checkout. */
export function comparisonProject(): string | null {
  const root = process.env['EDGEPLAN_SUITES'] ?? '';
  const folder = join(root, 'mgm-web-attack-payloads', 'nuclei', 'payloads');
  return root !== '' && existsSync(folder) ? folder : null;
}

/** Every `step`th payload of a kind in each of its positions; `harmless`: the payloads that nobody should stop. */
export function projectRequests(
  folder: string,
  kind: AttackKind,
  { harmless, step }: { readonly harmless: boolean; readonly step: number },
): readonly EdgeRequest[] {
  const file = join(folder, kind, harmless ? 'false-positives.txt' : 'true-positives.txt');
  const payloads = readFileSync(file, 'latin1')
    .split('\n')
    .map((line) => line.replace('\r', ''))
    .filter((line) => line !== '');
  return payloads.filter((_, at) => at % step === 0).flatMap((payload) => placed(kind, payload));
}

function placed(kind: AttackKind, payload: string): readonly EdgeRequest[] {
  const browser = { 'user-agent': BROWSER };
  switch (kind) {
    case 'log4shell':
    case 'shellshock': {
      const agent = { 'accept-encoding': 'gzip', 'user-agent': payload };
      const typed = kind === 'shellshock' ? { ...agent, 'content-type': 'text/plain' } : agent;
      const both = [get('/?tp_param=foobar', agent), post(typed, 'tp_param=foobar')];
      if (kind === 'log4shell') return both;
      return [...both, post({ ...browser, 'content-type': FORM }, `tp_param=${queryEscape(payload)}`)];
    }
    case 'xxe': {
      const headers = { ...browser, 'content-type': 'application/xml' };
      return [{ ...post(headers, payload), method: 'GET' }, post(headers, payload)];
    }
    default: {
      const headers = kind === 'sqli' ? {} : browser;
      const pair = `tp_param=${queryEscape(payload)}`;
      return [get(`/?${pair}`, headers), post({ ...headers, 'content-type': FORM }, pair)];
    }
  }
}

/** Go's `url.QueryEscape`, in which the templates undo the encoding of percent signs. */
function queryEscape(payload: string): string {
  let out = '';
  for (const octet of Buffer.from(payload, 'latin1')) {
    const character = String.fromCharCode(octet);
    if (/[A-Za-z0-9\-_.~]/.test(character)) out += character;
    else out += character === ' ' ? '+' : `%${octet.toString(16).toUpperCase().padStart(2, '0')}`;
  }
  return out.replaceAll('%25', '%');
}

type Headers = Readonly<Record<string, string>>;

function get(target: string, headers: Headers): EdgeRequest {
  const host = 'shop.example.com';
  return { scheme: 'http', method: 'GET', host, target, headers: { host, ...headers }, ip: '203.0.113.7' };
}

function post(headers: Headers, text: string): EdgeRequest {
  const body = Buffer.from(text, 'latin1');
  return { ...get('/', { ...headers, 'content-length': String(body.length) }), method: 'POST', body };
}
