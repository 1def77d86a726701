/** Renders a letter for its channels: the plain text and the HTML of an e-mail, and the text of an SMS. */
import { html, type Markup, trusted } from '../base/html.ts';
import type { Letter, Urgency } from './kind.ts';
import { MAX_SMS_CHARACTERS } from './limits.ts';

/** What surrounds a letter. */
export interface Envelope {
  readonly severity: Urgency;
  /** The name of the account that receives it. */
  readonly account: string;
  /** Where to read more; `null`: the server has no public URL. */
  readonly link: string | null;
  /** As `publicId`. */
  readonly id: string;
}

/** Columns of the plain text: what mail programs wrap at (RFC 5322 §2.1.1). */
const COLUMNS = 72;

/** Wraps words at `COLUMNS`; continuation lines get `indent`. */
function wrap(text: string, indent = ''): string {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > COLUMNS) {
      lines.push(line);
      line = `${indent}${word}`;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, line].join('\n');
}

/** The last lines: why the account gets this, and how to change it. */
function footer({ account, id }: Envelope): string {
  return `You get this because the account ${account} is notified here. The preferences of its notifications set what is sent (API: PUT /notifications/preferences). Id: ${id}`;
}

/** The plain text of an e-mail. */
export function renderText({ headline, paragraphs, facts, steps }: Letter, envelope: Envelope): string {
  const width = Math.max(0, ...facts.map(({ label }) => label.length)) + 2;
  const blocks = [
    wrap(headline),
    ...paragraphs.map((paragraph) => wrap(paragraph)),
    facts
      .map(({ label, value }) => wrap(`${`${label}:`.padEnd(width)}${value}`, ' '.repeat(width)))
      .join('\n'),
    steps.length === 0 ? '' : ['What to do:', ...steps.map((step) => wrap(`- ${step}`, '  '))].join('\n'),
    envelope.link ?? '',
    `-- \n${wrap(footer(envelope))}`,
  ];
  return `${blocks.filter((block) => block !== '').join('\n\n')}\n`;
}

/** The text of an SMS, at most `MAX_SMS_CHARACTERS`. */
export function renderSms({ headline, facts }: Letter): string {
  const [fact] = facts;
  const text = fact === undefined ? headline : `${headline}. ${fact.label}: ${fact.value}`;
  return [...text].slice(0, MAX_SMS_CHARACTERS).join('');
}

/** The colours of a severity: of its bar and label, on white and on a dark ground (WCAG 2.2 contrast of 4.5 and more). */
const COLOURS: Readonly<Record<Urgency, { readonly light: string; readonly dark: string }>> = {
  info: { light: '#1a5fb4', dark: '#8ab8ff' },
  warning: { light: '#8a5300', dark: '#f5c26b' },
  critical: { light: '#b3151f', dark: '#ff9a94' },
};

/** The label of a severity. */
const LABELS: Readonly<Record<Urgency, string>> = {
  info: 'For your information',
  warning: 'Needs attention',
  critical: 'Needs action now',
};

/** The dark scheme; mail programs that remove `<style>` show the light one of the attributes. */
const styles = ({ dark }: { readonly dark: string }): string => `
:root{color-scheme:light dark;supported-color-schemes:light dark}
@media (prefers-color-scheme:dark){
body,.page{background:#15181c!important;color:#e8eaed!important}
.card{background:#1f2328!important}
.bar{border-top-color:${dark}!important}.label,.card a{color:${dark}!important}
.quiet{color:#a9b0b8!important}.facts td{border-color:#3a4149!important}}`;

const FONT = "font-family:-apple-system,BlinkMacSystemFont,'Segoe UI',Roboto,Helvetica,Arial,sans-serif";

const CELL = 'border-bottom:1px solid #e3e6e9;vertical-align:top';

/** One fact as a row of the table. */
function factRow({ label, value }: Letter['facts'][number]): Markup {
  return html`<tr><td class="quiet" style="padding:7px 16px 7px 0;${CELL};color:#57606a;white-space:nowrap">${label}</td>
<td style="padding:7px 0;${CELL};word-break:break-word">${value}</td></tr>
`;
}

/** What happened: the headline, the paragraphs, the facts. */
function happened({ headline, paragraphs, facts }: Letter): Markup {
  const table = html`<table class="facts" style="border-collapse:collapse;width:100%;margin:0 0 20px;font-size:15px">
${facts.map(factRow)}</table>
`;
  return html`<h1 style="margin:0 0 16px;font-size:22px;line-height:1.3;word-break:break-word">${headline}</h1>
${paragraphs.map((text) => html`<p style="margin:0 0 16px">${text}</p>\n`)}${facts.length === 0 ? null : table}`;
}

/** What to do, and where to read more. */
function toDo({ steps }: Letter, link: string | null, colour: string): Markup {
  const list = html`<h2 style="margin:0 0 8px;font-size:16px">What to do</h2>
<ul style="margin:0 0 20px;padding-left:22px">
${steps.map((step) => html`<li style="margin:0 0 6px">${step}</li>\n`)}</ul>
`;
  const anchor = html`<p style="margin:0;word-break:break-all"><a href="${link}" style="color:${colour}">${link}</a></p>`;
  return html`${steps.length === 0 ? null : list}${link === null ? null : anchor}`;
}

/** The HTML of an e-mail: one column, no images, no remote content. Text of customers is escaped. */
export function renderHtml(letter: Letter, envelope: Envelope): string {
  const colours = COLOURS[envelope.severity];
  const page = html`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="supported-color-schemes" content="light dark">
<title>${letter.headline}</title>
<style>${trusted(styles(colours))}</style>
</head>
<body style="margin:0;padding:0;background:#f2f4f6;color:#1f2328;${trusted(FONT)};font-size:16px;line-height:1.5">
<div class="page" style="background:#f2f4f6;padding:24px 12px">
<div class="card bar" style="max-width:600px;margin:0 auto;background:#ffffff;border-radius:6px;border-top:4px solid ${colours.light};padding:24px;box-sizing:border-box">
<p class="label" style="margin:0 0 4px;font-size:14px;font-weight:600;color:${colours.light}">${LABELS[envelope.severity]}</p>
${happened(letter)}${toDo(letter, envelope.link, colours.light)}
</div>
<p class="quiet" style="max-width:600px;margin:16px auto 0;padding:0 12px;box-sizing:border-box;font-size:13px;color:#57606a;word-break:break-word">${footer(envelope)}</p>
</div>
</body>
</html>
`;
  return page.text;
}
