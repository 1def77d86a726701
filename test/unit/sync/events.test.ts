import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createEventReader, type ServerEvent } from '../../../src/sync/events.ts';

function readAll(chunks: readonly Uint8Array[], limit = 1_000): readonly ServerEvent[] {
  const events: ServerEvent[] = [];
  const reader = createEventReader({ limit, onEvent: (event) => events.push(event) });
  for (const chunk of chunks) reader.push(chunk);
  return events;
}

const octets = (text: string): Uint8Array => new TextEncoder().encode(text);

describe('events', () => {
  const cases: readonly [string, string, readonly [string, string][]][] = [
    ['one', 'event: a\ndata: x\n\n', [['a', 'x']]],
    ['without a name', 'data: x\n\n', [['message', 'x']]],
    ['without a space', 'event:a\ndata:x\n\n', [['a', 'x']]],
    ['with two spaces', 'data:  x\n\n', [['message', ' x']]],
    ['of two lines', 'data: x\ndata\ndata: y\n\n', [['message', 'x\n\ny']]],
    [
      'in CRLF',
      'event: a\r\ndata: x\r\n\r\ndata: y\r\n\r\n',
      [
        ['a', 'x'],
        ['message', 'y'],
      ],
    ],
    [
      'in CR',
      'event: a\rdata: x\r\rdata: y\r\r',
      [
        ['a', 'x'],
        ['message', 'y'],
      ],
    ],
    [
      'with comments, ids and times',
      ': still here\nid: 7\nretry: 1000\nodd: x\ndata: x\n\n',
      [['message', 'x']],
    ],
    ['without data', 'event: a\n\nevent: b\n\n', []],
    ['not ended', 'data: x\n', []],
    ['after a byte order mark', '\uFEFFdata: x\n\n', [['message', 'x']]],
    ['beyond ASCII', 'data: ä🙂\n\n', [['message', 'ä🙂']]],
  ];
  test.each(cases)('%s', (_, text, expected) => {
    expect(readAll([octets(text)]).map(({ type, data }) => [type, data])).toEqual(expected);
  });

  test('however they are cut up', () => {
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
  ])('%s beyond the limit is refused', (_, pieces) => {
    expect(() => readAll(pieces.map(octets))).toThrow('an event of the feed is longer than 1000 characters');
  });

  test('many events within the limit are not', () => {
    expect(readAll([octets('data: x\n\n'.repeat(1_000))])).toHaveLength(1_000);
  });
});
