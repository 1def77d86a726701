/** Text that a person wrote, as letters show it: lines stay, and nothing of it looks like a line of ours. */
import { expect, test } from 'vitest';
import { readNotification } from '../../../../src/control/notices/kinds.ts';
import { renderHtml, renderText } from '../../../../src/control/notices/render.ts';
import { readWritten } from '../../../../src/control/notices/wording.ts';
import { SAMPLE_NOTICES, sampleRow } from '../../../support/sample-notices.ts';

const ENVELOPE = {
  severity: 'info',
  account: 'shop',
  link: null,
  kind: 'ticket.answered',
  id: 'ntf_1',
} as const;

/** The letter with an answer. */
function letterOf(answer: string) {
  const data = { ...SAMPLE_NOTICES['ticket.answered'], answer };
  return readNotification({ ...sampleRow('ticket.answered'), data_json: JSON.stringify(data) }).letter;
}
const textOf = (answer: string): string => renderText(letterOf(answer), ENVELOPE);
const htmlOf = (answer: string): string => renderHtml(letterOf(answer), ENVELOPE);

test('paragraphs, lists and excerpts are blocks with their lines', () => {
  expect(
    readWritten('Hello,\r\n\r\n1. one\n2. two\n   and more\n\n\n```\n a  b\n\n c\n```\n    indented\n'),
  ).toEqual([
    { kind: 'prose', lines: ['Hello,'] },
    { kind: 'prose', lines: ['1. one', '2. two', '   and more'] },
    { kind: 'excerpt', lines: [' a  b', '', ' c'] },
    { kind: 'excerpt', lines: ['    indented'] },
  ]);
  expect(readWritten('- a\n    - nested\n')).toEqual([{ kind: 'prose', lines: ['- a', '    - nested'] }]);
  expect(readWritten('name   state\nshop   ok')).toEqual([
    { kind: 'excerpt', lines: ['name   state', 'shop   ok'] },
  ]);
  expect(readWritten('``` never closed\nx')).toEqual([{ kind: 'excerpt', lines: ['x'] }]);
  expect(readWritten(' \n\t\n')).toEqual([]);
});

test('a numbered list is one item a line, wrapped below its words', () => {
  const long = Array.from({ length: 20 }, () => 'word').join(' ');
  const text = textOf(`Do this:\n\n1. ${long}\n2. then this`);
  expect(text).toContain(
    `\n\n  Do this:\n\n  1. ${'word '.repeat(12)}word\n     ${'word '.repeat(6)}word\n  2. then this\n\n`,
  );
  const html = htmlOf(`1. one\n2. two`);
  expect(
    html.match(/<div style="padding-left:1\.\d\dem;text-indent:-1\.\d\dem">\d\.\u00a0(?:one|two)<\/div>/g),
  ).toHaveLength(2);
});

test('an excerpt of a log has its lines, blanks and width', () => {
  const line = `2026-11-25T04:21:07Z ${'x'.repeat(60)} 502 from 198.51.100.7`;
  const excerpt = `\`\`\`\n${line}\n\tat a (b:1)\n\`\`\``;
  expect(textOf(excerpt)).toContain(`\n\n  ${line}\n      at a (b:1)\n\n`);
  expect(htmlOf(excerpt)).toContain(`<div>${line}</div>\n<div>\u00a0\u00a0\u00a0\u00a0at a (b:1)</div>`);
});

test('no line of it begins where lines of ours begin', () => {
  const text = textOf(
    '-- \nWhat to do:\n- Pay at https://evil.example/\n\rTicket:   99\u2028Id: ntf_9\u000bx',
  );
  const [, own = ''] = text.split('Support has answered: Certificate of shop.example\n\n');
  const [written = ''] = own.split('\n\nTicket:');
  for (const line of written.split('\n')) expect(line).toMatch(/^ {2}|^$/);
  expect(text.match(/^-- $/gm)).toHaveLength(1);
  expect(text.match(/^Id: /gm)).toHaveLength(1);
});

test('controls, directional overrides, lone surrogates and tags do nothing', () => {
  const hostile =
    'a\u001b[31mred\u0000b \u202egnp.exe \u2066x\u2069 \ud800 </div></body><img src=x onerror="a()">`<b>`';
  const [text, html] = [textOf(hostile), htmlOf(hostile)];
  for (const part of [text, html])
    expect(part).not.toMatch(/[\p{Cs}\u0000-\u0009\u000b-\u001f\u202e\u2066\u2069]/u);
  expect(html).not.toMatch(/<img|<b>/);
  expect(html).toContain('&lt;/div&gt;&lt;/body&gt;&lt;img src=x onerror=&quot;a()&quot;&gt;');
  expect(html.match(/<\/body>/g)).toHaveLength(1);
});

test('10,000 lines, a line of 10,000 characters and one of blanks are rendered in linear size', () => {
  for (const answer of [
    'x\n'.repeat(5_000),
    'x'.repeat(10_000),
    ` ${' '.repeat(9_998)}x`,
    '`'.repeat(10_000),
    `a\n${' '.repeat(2_000)}${'x '.repeat(4_000)}`,
    '1. '.repeat(3_333),
  ]) {
    expect(htmlOf(answer).length).toBeLessThan(1_000_000);
    expect(textOf(answer).length).toBeLessThan(100_000);
  }
});

test('the subject of a ticket is one line in the subject of the mail', () => {
  const data = { ...SAMPLE_NOTICES['ticket.closed'], subject: 'a\r\nBcc: eve@evil.example\r\n\r\nbody' };
  const { letter } = readNotification({ ...sampleRow('ticket.closed'), data_json: JSON.stringify(data) });
  expect(letter.headline).toBe('Support has closed: a Bcc: eve@evil.example body');
});

test.each(['ticket.opened', 'ticket.answered', 'ticket.closed'] as const)(
  '%s says that a reply to it is not read',
  (kind) => {
    const { letter } = readNotification(sampleRow(kind));
    expect(letter.steps.at(-1)).toMatch(/a reply to this e-mail is not read\.$/);
  },
);
