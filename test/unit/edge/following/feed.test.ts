import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createEventReader, type ServerEvent } from '../../../../src/edge/following/feed.ts';

function readAll(chunks: readonly Uint8Array[], limit = 1_000): readonly ServerEvent[] {
  const events: ServerEvent[] = [];
  const reader = createEventReader({ limit, onEvent: (event) => events.push(event) });
  for (const chunk of chunks) reader.push(chunk);
  return events;
}

const octets = (text: string): Uint8Array => new TextEncoder().encode(text);

describe('the parser of server-sent events', () => {
  const cases: readonly [string, string, readonly [string, string][]][] = [
    ['an event with type and data', 'event: a\ndata: x\n\n', [['a', 'x']]],
    ['an event without a type is a message', 'data: x\n\n', [['message', 'x']]],
    ['the space after the colon is optional', 'event:a\ndata:x\n\n', [['a', 'x']]],
    ['only one space after the colon is removed', 'data:  x\n\n', [['message', ' x']]],
    ['data fields are joined by LF', 'data: x\ndata\ndata: y\n\n', [['message', 'x\n\ny']]],
    [
      'lines end in CRLF',
      'event: a\r\ndata: x\r\n\r\ndata: y\r\n\r\n',
      [
        ['a', 'x'],
        ['message', 'y'],
      ],
    ],
    [
      'lines end in CR',
      'event: a\rdata: x\r\rdata: y\r\r',
      [
        ['a', 'x'],
        ['message', 'y'],
      ],
    ],
    [
      'comments, ids, retry times and unknown fields are ignored',
      ': still here\nid: 7\nretry: 1000\nodd: x\ndata: x\n\n',
      [['message', 'x']],
    ],
    ['an event without data is dropped', 'event: a\n\nevent: b\n\n', []],
    ['an unfinished event is not reported', 'data: x\n', []],
    ['a byte order mark at the start is removed', '\uFEFFdata: x\n\n', [['message', 'x']]],
    ['UTF-8 beyond ASCII is decoded', 'data: ä🙂\n\n', [['message', 'ä🙂']]],
  ];
  test.each(cases)('%s', (_, text, expected) => {
    expect(readAll([octets(text)]).map(({ type, data }) => [type, data])).toEqual(expected);
  });

  test('reports the same events however the octets are split', () => {
    const text = fc.array(fc.constantFrom('data: x', 'data:ä', 'event: b', '\n', '\r\n', '\r', ': c', ''), {
      maxLength: 30,
    });
    fc.assert(
      fc.property(text, fc.infiniteStream(fc.nat(5)), (pieces, sizes) => {
        const all = octets(pieces.join('\n'));
        const chunks: Uint8Array[] = [];
        for (let at = 0; at < all.length; ) {
          const size = sizes.next().value as number;
          chunks.push(all.subarray(at, at + size));
          at += size;
        }
        expect(readAll(chunks)).toEqual(readAll([all]));
      }),
    );
  });

  test.each([
    ['a line', ['x'.repeat(1_001)]],
    ['a line in pieces', Array.from({ length: 30 }, () => 'x'.repeat(50))],
    ['an event of many lines', Array.from({ length: 30 }, () => `data: ${'x'.repeat(50)}\n`)],
    ['an event of lines without a value', Array.from({ length: 1_000 }, () => 'data\n'.repeat(1_000))],
  ])('refuses %s beyond the limit', (_, pieces) => {
    expect(() => readAll(pieces.map(octets))).toThrow('an event of the feed is longer than 1000 characters');
  });

  test('accepts many events that are each within the limit', () => {
    expect(readAll([octets('data: x\n\n'.repeat(1_000))])).toHaveLength(1_000);
  });
});
