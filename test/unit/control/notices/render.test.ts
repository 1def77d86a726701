/** Letters of every kind, as text, HTML and SMS. */
import { describe, expect, test } from 'vitest';
import {
  KIND_NAMES,
  KINDS,
  type KindName,
  kindOf,
  publicId,
  readNotification,
} from '../../../../src/control/notices/kinds.ts';
import { MAX_SMS_CHARACTERS } from '../../../../src/control/notices/limits.ts';
import { renderHtml, renderSms, renderText } from '../../../../src/control/notices/render.ts';
import { durationWords, linkTo, listWords, timeWords } from '../../../../src/control/notices/wording.ts';
import { SAMPLE_NOTICES, sampleRow } from '../../../support/sample-notices.ts';

const envelopeOf = (name: KindName, link: string | null = null) => ({
  severity: KINDS[name].severity,
  account: 'acme',
  link,
  kind: name,
  id: 'ntf_17_mi3x2k1s',
});

/** A header, the mark of a footer, controls of terminals, a mark of direction, and an element. */
const HOSTILE = '\r\nBcc: eve@evil.example\r\n-- \nowned\u001b[2J\u009b2J\u202e\u2028<img src=x>';

/** The data of a kind with hostile ends of all texts that its schema accepts with them. */
function hostile(schema: (typeof KINDS)[KindName]['data'], data: object): object {
  let made: Record<string, unknown> = { ...data };
  for (const [key, value] of Object.entries(made)) {
    const other = typeof value === 'string' || value === null ? `${value}${HOSTILE}` : [`a${HOSTILE}`];
    const tried = { ...made, [key]: other };
    if (schema.safeParse(tried).success) made = tried;
  }
  return made;
}

describe.each(KIND_NAMES)('%s', (name) => {
  const { kind, letter } = readNotification(sampleRow(name));

  test('its sample data fit its schema', () => {
    expect(kind).toBe(kindOf(name));
    expect(KINDS[name].data.safeParse(SAMPLE_NOTICES[name]).success).toBe(true);
  });

  test('its subject is one line without a full stop, and its other sentences end with one', () => {
    expect(letter.headline).toMatch(/^[^\n]{5,100}[^.\n]$/);
    for (const sentence of [...letter.paragraphs, ...letter.steps]) expect(sentence).toMatch(/^\S[^\n]*\.$/);
    for (const { label, value } of letter.facts) {
      expect(label).not.toBe('');
      expect(value).not.toMatch(/undefined|null|NaN|Invalid/);
    }
  });

  test('its text wraps at 72 columns and has headline, facts, steps and the way to change it', () => {
    const text = renderText(letter, envelopeOf(name));
    for (const line of text.split('\n')) {
      // A word that is longer than a line stays whole.
      if (line.trim().includes(' ')) expect(line.length).toBeLessThanOrEqual(72 + 20);
    }
    expect(text.replaceAll(/\s+/g, ' ')).toContain(letter.headline);
    for (const { value } of letter.facts)
      expect(text.replaceAll(/\s+/g, ' ')).toContain(value.replaceAll(/\s+/g, ' '));
    expect(text.replaceAll(/\s+/g, ' ')).toContain('PUT /notifications/preferences');
    expect(text.includes('What to do:')).toBe(letter.steps.length > 0);
  });

  test('its HTML has the same words, and no link without a public URL', () => {
    const html = renderHtml(letter, envelopeOf(name));
    expect(html).not.toContain('href=');
    expect(html).not.toMatch(/src=|url\(/);
    expect(html.match(/<h1/g)).toHaveLength(1);
    expect(renderHtml(letter, envelopeOf(name, 'https://panel.example.net/'))).toContain(
      'href="https://panel.example.net/"',
    );
  });

  test('text of others begins no line, moves no cursor and marks nothing up', () => {
    const data = hostile(KINDS[name].data, SAMPLE_NOTICES[name]);
    const row = { ...sampleRow(name), data_json: JSON.stringify(data), domain: `shop.example${HOSTILE}` };
    const found = readNotification(row).letter;
    const texts = [found.headline, renderSms(found), renderText(found, envelopeOf(name))];
    for (const text of texts) {
      expect(text).not.toMatch(/[^\P{Cc}\n]|[\u2028-\u202e\u2066-\u2069]/u);
      expect(text).not.toMatch(/^(?:Bcc:|-- $\n.*owned)/m);
    }
    expect(`${found.headline}${renderSms(found)}`).not.toContain('\n');
    expect(renderHtml(found, envelopeOf(name))).not.toContain('<img');
  });

  test('its SMS fits three segments', () => {
    expect(renderSms(letter).length).toBeLessThanOrEqual(MAX_SMS_CHARACTERS);
  });
});

test('text of customers is escaped in HTML', () => {
  const letter = {
    headline: '<b>&"',
    paragraphs: ['<script>'],
    facts: [{ label: 'a', value: '<i>' }],
    steps: ['<u>'],
  };
  const html = renderHtml(letter, envelopeOf('account.test', 'https://x.example/?a="b'));
  expect(html).not.toMatch(/<b>|<script>|<i>|<u>|"b"/);
  expect(html).toContain('&lt;b&gt;&amp;&quot;');
});

test('a row of another version has a letter with its kind', () => {
  const row = { ...sampleRow('domain.moved'), kind: 'domain.archived' };
  expect(readNotification(row).letter.headline).toBe('shop.example: domain.archived');
  const odd = { ...sampleRow('domain.moved'), data_json: '{}' };
  expect(readNotification(odd).letter).toMatchObject({ headline: 'shop.example: domain.moved', steps: [] });
  expect(kindOf('toString')).toBeNull();
});

test('the public id differs for the same row id of another time', () => {
  expect(publicId({ id: 17, created_at: 1 })).not.toBe(publicId({ id: 17, created_at: 2 }));
});

test('times, durations and lists are written as people write them', () => {
  expect(timeWords('2026-11-05T04:30:59.000Z')).toBe('5 November 2026, 04:30 UTC');
  expect(durationWords(10_000)).toBe('1 minute');
  expect(durationWords(125 * 60_000)).toBe('2 hours 5 minutes');
  expect(durationWords(3 * 86_400_000)).toBe('3 days');
  expect(listWords(['a'])).toBe('a');
  expect(listWords(['a', 'b', 'c'])).toBe('a, b and c');
  expect(listWords(['a', 'b', 'c', 'd', 'e'])).toBe('a, b, c and 2 more');
});

test('the public URL gets the name of the domain, or ends before it', () => {
  expect(linkTo('https://p.example/d/{domain}?x', 'shop.example')).toBe('https://p.example/d/shop.example?x');
  expect(linkTo('https://p.example/d/{domain}?x', null)).toBe('https://p.example/d/');
  expect(linkTo('https://p.example/', 'shop.example')).toBe('https://p.example/');
});
