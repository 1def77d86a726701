/**
 * Renders a letter for its channels: the plain text and the HTML of an e-mail, and the text of an SMS. Text between backticks
 * is code: it is marked in HTML, and loses its backticks in an SMS.
 */
import { html, type Markup, trusted } from '../../base/text/html.ts';
import type { Letter, Urgency } from './kind.ts';
import { MAX_SMS_CHARACTERS } from './limits.ts';
import type { WrittenBlock } from './wording.ts';

/** What surrounds a letter. */
export interface Envelope {
  readonly severity: Urgency;
  /** The name of the account that receives it. */
  readonly account: string;
  /** Where to read more; `null`: the server has no public URL. */
  readonly link: string | null;
  /** The name of the kind; `null`: a message that is of no kind and cannot be turned off, such as a code. */
  readonly kind: string | null;
  /** As `publicId`. */
  readonly id: string;
}

/** Columns of the plain text: what mail programs wrap at (RFC 5322 §2.1.1). */
const COLUMNS = 72;

/** Wraps words at `COLUMNS`, the first line after `first`; continuation lines get `indent`. */
function wrap(text: string, indent = '', first = ''): string {
  const lines: string[] = [];
  let line = first;
  let isEmpty = true;
  for (const word of text.split(' ')) {
    if (!isEmpty && line.length + 1 + word.length > COLUMNS) {
      lines.push(line);
      line = `${indent}${word}`;
    } else line = isEmpty ? `${line}${word}` : `${line} ${word}`;
    isEmpty = false;
  }
  return [...lines, line].join('\n');
}

/** The deepest indent of wrapped lines, so that they have room for words. */
const MAX_INDENT = 24;

/** The blanks and the marker of a list before the words of a line. */
const LEAD = /^ *(?:(?:[-*+•]|\d{1,3}[.)]) )? */;

/**
 * What a person wrote, each line indented, so that none looks like a line of ours. Lines of prose are wrapped below their
 * words.
 */
function writtenText(blocks: readonly WrittenBlock[]): readonly string[] {
  return blocks.map(({ kind, lines }) => {
    if (kind === 'excerpt') return lines.map((line) => `  ${line}`.trimEnd()).join('\n');
    const wrapped = lines.map((line) => {
      const lead = LEAD.exec(line)?.[0] ?? '';
      const indent = Math.min(lead.length + 2, MAX_INDENT);
      return wrap(line.slice(lead.length), ' '.repeat(indent), `  ${lead}`);
    });
    return wrapped.join('\n');
  });
}

/** The last lines: why the account gets this, and how to end it. */
function footer({ account, kind, id }: Envelope): readonly string[] {
  if (kind === null)
    return [`This address was entered for notifications of the account ${account}.`, `Id: ${id}`];
  return [
    `You get this because notifications of the account ${account} are sent to this address.`,
    'To get no more of this kind, use PUT /notifications/preferences of the API, or:',
    `\`edgeplan notifications preferences ${kind} --email off\``,
    `Id: ${id}`,
  ];
}

/** The plain text of an e-mail. */
export function renderText(letter: Letter, envelope: Envelope): string {
  const { headline, paragraphs, written = [], facts, steps } = letter;
  const width = Math.max(0, ...facts.map(({ label }) => label.length)) + 2;
  const blocks = [
    wrap(headline),
    ...paragraphs.map((paragraph) => wrap(paragraph)),
    ...writtenText(written),
    facts
      .map(({ label, value }) => wrap(`${`${label}:`.padEnd(width)}${value}`, ' '.repeat(width)))
      .join('\n'),
    steps.length === 0 ? '' : ['What to do:', ...steps.map((step) => wrap(`- ${step}`, '  '))].join('\n'),
    envelope.link ?? '',
    `-- \n${footer(envelope)
      .map((line) => wrap(line))
      .join('\n')}`,
  ];
  return `${blocks.filter((block) => block !== '').join('\n\n')}\n`;
}

/** The text of an SMS, at most `MAX_SMS_CHARACTERS`. */
export function renderSms({ headline, facts }: Letter): string {
  const [fact] = facts;
  const text = fact === undefined ? headline : `${headline}. ${fact.label}: ${fact.value}`;
  return [...text.replaceAll('`', '')].slice(0, MAX_SMS_CHARACTERS).join('');
}

/** The colours of a severity, light and dark. */
interface Colours {
  /** Of the label's text, and of its ground. */
  readonly label: { readonly text: string; readonly ground: string };
  readonly darkLabel: { readonly text: string; readonly ground: string };
  /** Of the bar above the card. */
  readonly bar: string;
}

/** The colours by severity: text on its ground has a contrast of 4.5 and more (WCAG 2.2, 1.4.3). */
const COLOURS: Readonly<Record<Urgency, Colours>> = {
  info: {
    label: { text: '#0b4a8f', ground: '#e3effc' },
    darkLabel: { text: '#a9d0ff', ground: '#17324f' },
    bar: '#2f7bd6',
  },
  warning: {
    label: { text: '#744500', ground: '#fdf0d5' },
    darkLabel: { text: '#ffd58a', ground: '#453211' },
    bar: '#e09a1a',
  },
  critical: {
    label: { text: '#96101a', ground: '#fde5e6' },
    darkLabel: { text: '#ffb4b0', ground: '#511d20' },
    bar: '#d3202c',
  },
};

/** The label of a severity. */
const LABELS: Readonly<Record<Urgency, string>> = {
  info: 'For your information',
  warning: 'Needs attention',
  critical: 'Needs action now',
};

/** The dark scheme, and narrow screens; mail programs that remove `<style>` show the light, wide form of the attributes. */
const styles = ({ darkLabel }: Colours): string => `
:root{color-scheme:light dark;supported-color-schemes:light dark}
@media (max-width:480px){
.page{padding:12px 8px!important}.card{padding:20px 18px!important}
.facts td{display:block!important;width:auto!important}
.facts .name{padding:9px 0 0!important;border-bottom:0!important}.facts .value{padding:0 0 9px!important}
.button{display:block!important;text-align:center!important}}
@media (prefers-color-scheme:dark){
body,.page{background:#111418!important;color:#e8eaed!important}
.card{background:#1d2126!important;border-color:#30363d!important}
.label{color:${darkLabel.text}!important;background:${darkLabel.ground}!important}
.quiet{color:#a9b0b8!important}.facts td{border-color:#343b43!important}
.button{background:#e8eaed!important;color:#15181c!important}
code,.excerpt{background:#2b3138!important}.written{border-color:#4b545e!important}}`;

const FONT = "font-family:-apple-system,BlinkMacSystemFont,'Segoe UI',Roboto,Helvetica,Arial,sans-serif";

const CELL = 'border-bottom:1px solid #e3e6e9;vertical-align:top';

/** Characters of a word that fit on the narrowest screens. */
const MAX_UNBROKEN = 28;

const CODE =
  'font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;font-size:0.9em;background:#eef0f2;border-radius:4px;padding:1px 4px;word-break:break-word';

/** A word of code with the space before it. A short one is not broken at its hyphens. */
function unbroken(word: string, at: number): Markup {
  const space = at === 0 ? '' : ' ';
  if (word.length > MAX_UNBROKEN) return html`${space}${word}`;
  return html`${space}<span style="white-space:nowrap">${word}</span>`;
}

/** Text with code between backticks. A lone backtick is text. */
function marked(text: string): readonly Markup[] {
  const parts = text.split('`');
  const last = parts.length - 1;
  return parts.map((part, at) => {
    if (at % 2 === 0) return html`${part}`;
    if (at === last) return html`\`${part}`;
    return html`<code style="${CODE}">${part.split(' ').map(unbroken)}</code>`;
  });
}

/** A line whose blanks a browser does not remove. */
function blanksShown(line: string): string {
  return line.replaceAll(/^ +| {2,}/g, (blanks) => '\u00a0'.repeat(blanks.length));
}

/** Ems of a blank and of a digit in common fonts. */
const BLANK_EM = 0.32;
const DIGIT_EM = 0.55;
/** As `MAX_INDENT`, on a phone. */
const MAX_INDENT_EM = 6;

/** A line of prose; one with a lead is wrapped below its words, as in plain text. */
function proseLine(line: string): Markup {
  const lead = LEAD.exec(line)?.[0] ?? '';
  if (lead === '') return html`<div>${marked(line)}</div>\n`;
  const ems = [...lead].reduce((sum, character) => sum + (character === ' ' ? BLANK_EM : DIGIT_EM), 0);
  const width = `${Math.min(ems, MAX_INDENT_EM).toFixed(2)}em`;
  const shown = lead.replaceAll(' ', '\u00a0');
  return html`<div style="padding-left:${width};text-indent:-${width}">${shown}${marked(line.slice(lead.length))}</div>\n`;
}

/** A line of an excerpt. Tags, not styles, break lines: mail programs remove styles. */
function excerptLine(line: string): Markup {
  return html`<div>${line === '' ? '\u00a0' : blanksShown(line)}</div>\n`;
}

const EXCERPT =
  'margin:0 0 12px;padding:10px 12px;background:#eef0f2;border-radius:6px;font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;font-size:13px;line-height:1.45;word-break:break-word';

/** What a person wrote, beside a bar. */
function writtenPart(blocks: readonly WrittenBlock[]): Markup {
  const parts = blocks.map(({ kind, lines }) =>
    kind === 'excerpt'
      ? html`<div class="excerpt" dir="auto" style="${EXCERPT}">\n${lines.map(excerptLine)}</div>\n`
      : html`<div dir="auto" style="margin:0 0 12px;word-break:break-word">\n${lines.map(proseLine)}</div>\n`,
  );
  return html`<div class="written" style="margin:0 0 22px;padding:4px 0 1px 16px;border-left:3px solid #d0d7de">\n${parts}</div>\n`;
}

/** One fact as a row of the table. */
function factRow({ label, value }: Letter['facts'][number]): Markup {
  return html`<tr><td class="name quiet" style="width:1%;padding:9px 24px 9px 0;${CELL};color:#57606a;white-space:nowrap">${label}</td>
<td class="value" style="padding:9px 0;${CELL};word-break:break-word">${value}</td></tr>
`;
}

/** What happened: the headline, the paragraphs, what a person wrote, the facts. */
function happened({ headline, paragraphs, written = [], facts }: Letter): Markup {
  const table = html`<table class="facts" role="presentation" style="border-collapse:collapse;width:100%;margin:0 0 24px;font-size:15px">
${facts.map(factRow)}</table>
`;
  return html`<h1 style="margin:0 0 14px;font-size:23px;line-height:1.3;font-weight:600;word-break:break-word">${headline}</h1>
${paragraphs.map((text) => html`<p style="margin:0 0 18px">${marked(text)}</p>\n`)}${written.length === 0 ? null : writtenPart(written)}${facts.length === 0 ? null : table}`;
}

/** What to do, and where to read more. */
function toDo({ steps }: Letter, link: string | null): Markup {
  const items = steps.map((step) => html`<li style="margin:0 0 8px">${marked(step)}</li>\n`);
  const list =
    steps.length === 1
      ? html`<p style="margin:0 0 24px">${marked(steps[0]!)}</p>\n`
      : html`<ol style="margin:0 0 24px;padding-left:22px">\n${items}</ol>\n`;
  const todo = html`<h2 style="margin:0 0 8px;font-size:16px;font-weight:600">What to do</h2>\n${list}`;
  const button = html`<p style="margin:0"><a class="button" href="${link}" style="display:inline-block;background:#1f2328;color:#ffffff;text-decoration:none;font-weight:600;font-size:15px;border-radius:6px;padding:11px 20px">Open the panel</a></p>
`;
  return html`${steps.length === 0 ? null : todo}${link === null ? null : button}`;
}

/** The first words of a letter, which lists of mails show beside the subject. */
function preview({ headline, paragraphs: [first], written: [block] = [] }: Letter): string {
  return first?.replaceAll('`', '') ?? block?.lines.join(' ') ?? headline;
}

/** The HTML of an e-mail: one column, no images, no remote content. Text of customers is escaped. */
export function renderHtml(letter: Letter, envelope: Envelope): string {
  const colours = COLOURS[envelope.severity];
  const { text, ground } = colours.label;
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
<div style="display:none;max-height:0;overflow:hidden">${preview(letter)}</div>
<div class="page" style="background:#f2f4f6;padding:32px 12px">
<div style="max-width:600px;margin:0 auto;height:4px;border-radius:8px 8px 0 0;background:${colours.bar};font-size:0;line-height:0">&nbsp;</div>
<div class="card" style="max-width:600px;margin:0 auto;background:#ffffff;border-radius:0 0 8px 8px;border:1px solid #dfe3e8;border-top:0;padding:26px 30px 30px;box-sizing:border-box">
<p style="margin:0 0 12px;line-height:1.4"><span class="label" style="display:inline-block;font-size:13px;font-weight:600;color:${text};background:${ground};border-radius:999px;padding:3px 12px">${LABELS[envelope.severity]}</span></p>
${happened(letter)}${toDo(letter, envelope.link)}</div>
<div class="quiet" style="max-width:600px;margin:18px auto 0;padding:0 12px;box-sizing:border-box;font-size:13px;color:#57606a;word-break:break-word">
${footer(envelope).map((line) => html`<p style="margin:0 0 6px">${marked(line)}</p>\n`)}</div>
</div>
</body>
</html>
`;
  return page.text;
}
