/** Texts to take away: the trace as JSON, the request as command lines, the outcome as a test. */
import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { shellWord } from '../../../../workbench/simulation/shell-word.ts';
import type { Answered } from '../engine.ts';
import { html } from './html.ts';

/** A text with a button that copies it. */
function copyable({ text, label }: { readonly text: string; readonly label: string }): VNode {
  const [copied, setCopied] = useState('');
  const copy = (): void => {
    navigator.clipboard.writeText(text).then(
      () => setCopied(text),
      () => setCopied('refused'),
    );
  };
  const word =
    copied === text ? 'Copied' : copied === 'refused' ? 'The browser refuses; select the text' : 'Copy';
  return html`<figure class="text">
    <figcaption>${label}<button type="button" class="quiet" onClick=${copy}><span aria-live="polite">${word}</span></button></figcaption>
    <pre tabindex="0" aria-label=${label}>${text}</pre>
  </figure>`;
}

/** The trace document, as `edgeplan simulate --json` prints it. */
export function jsonView({ answer }: { readonly answer: Answered }): VNode {
  return html`<${copyable} label="edgeplan simulate --json" text=${JSON.stringify(answer.document, null, 2)} />`;
}

/** The options of curl for the request's message. */
function messageOptions({ asked: { request } }: Answered): readonly string[] {
  const words: string[] = [];
  for (const [name, value] of Object.entries(request.headers ?? {})) {
    for (const one of Array.isArray(value) ? value : [String(value)])
      words.push(
        name === 'user-agent'
          ? `-A ${shellWord(one)}`
          : `-H ${shellWord(one === '' ? `${name};` : `${name}: ${one}`)}`,
      );
  }
  if (typeof request.body === 'string') words.push(`--data-raw ${shellWord(request.body)}`);
  return words;
}

/** The options of `edgeplan simulate` for what curl cannot state. */
function factOptions({ asked: { request, world, response } }: Answered): readonly string[] {
  const { bot } = request;
  const botText =
    bot === null
      ? 'none'
      : bot === undefined
        ? undefined
        : `${bot.kind}${bot.verified === true ? ':verified' : ''}`;
  const facts = {
    ip: request.ip,
    country: request.country,
    bot: botText,
    ja4: request.ja4,
    ja4h: request.ja4h,
  };
  return [
    ...Object.entries(facts).flatMap(([name, value]) =>
      value == null ? [] : [`--${name} ${shellWord(value)}`],
    ),
    ...(request.cleared ?? []).map((ref) => `--cleared ${shellWord(ref)}`),
    ...[...(world.counted ?? [])].map(([rule, requests]) => `--counted ${shellWord(`${rule}=${requests}`)}`),
    ...(world.nowGiven ? [`--at ${new Date(world.now).toISOString()}`] : []),
    ...(response === undefined
      ? []
      : [`--status ${response.status}${response.madeBy === 'edge' ? ':edge' : ''}`]),
    ...world.down.map((origin) => `--origin-down ${shellWord(origin)}`),
    ...(world.nodeId === null ? [] : [`--node-id ${world.nodeId}`]),
  ];
}

/** The method as an option; empty if it is implied. */
function methodOption({ asked: { request } }: Answered): readonly string[] {
  const implied = typeof request.body === 'string' ? 'POST' : 'GET';
  if (request.method === implied) return [];
  return [request.method === 'HEAD' ? '-I' : `-X ${shellWord(request.method)}`];
}

/** The request as command lines. */
export function curlView({ answer }: { readonly answer: Answered }): VNode {
  const url = shellWord(answer.asked.url);
  const message = [...methodOption(answer), ...messageOptions(answer)];
  const lines = (words: readonly string[]): string => words.join(' \\\n  ');
  const file = answer.subject.name;
  return html`<${copyable} label="curl" text=${lines([`curl ${url}`, ...message])} />
    <${copyable} label="edgeplan, with what curl cannot state" text=${lines([`edgeplan simulate -f ${shellWord(file)} ${url}`, ...message, ...factOptions(answer)])} />`;
}

/** The outcome as a test; the printer of YAML loads with the first one. */
export function testView({ answer }: { readonly answer: Answered }): VNode {
  const [text, setText] = useState<string | null>(null);
  useEffect(() => {
    let isCurrent = true;
    void import('../test-writer.ts').then(({ testOf }) => {
      if (isCurrent) setText(testOf(answer));
    });
    return () => {
      isCurrent = false;
    };
  }, [answer]);
  if (text === null) return html`<p class="note">Loading…</p>`;
  return html`<${copyable} label="an entry of tests: in edge.test.yaml" text=${text} />`;
}
