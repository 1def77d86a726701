/** Captures of rewrites have the octets that the visitor sent, whatever the spelling of the path (semantics §5). */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decodeEscapes } from '../../src/base/octets/octets.ts';
import { createTargetFacts, parseTarget, type TargetFacts } from '../../src/base/paths/path.ts';
import { readSentPath, sentPart } from '../../src/base/paths/sent-path.ts';

const PARAMETERS = { numRuns: 5_000 };
const WHOLE_ESCAPES = /^(?:%[0-9A-Fa-f]{2}|[^%])*$/;

const piece = fc.constantFrom(
  ...['a', 'B7', '.', '..', '-', '+', ';v=1', ';', ':', '@', '/', '//', '\\', 'é', '😀'],
  ...['%2F', '%2f', '%5C', '%2B', '%E9', '%C3%BC', '%F0%9F%98%80', '%3B', '%25', '%2e', '%41', '%20', '%ff'],
);
const target = fc.array(piece, { maxLength: 14 }).map((pieces) => `/${pieces.join('')}`);

function read(sent: string): TargetFacts | null {
  const facts = createTargetFacts();
  return parseTarget(sent, facts) === 0 ? facts : null;
}

/** Both texts of a path that captures are taken from: with its parameters, and without. */
function spellings({ path, pathWithoutParameters, forwarded }: TargetFacts) {
  const whole = readSentPath(path, forwarded, true);
  return pathWithoutParameters === null
    ? [whole]
    : [whole, readSentPath(pathWithoutParameters, forwarded, false)];
}

test('a capture of the whole path is the forwarded path', () => {
  fc.assert(
    fc.property(target, (sent) => {
      const facts = read(sent);
      fc.pre(facts !== null);
      const whole = readSentPath(facts.path, facts.forwarded, true);
      expect(sentPart(whole, { from: 0, text: facts.path })).toBe(facts.forwarded);
    }),
    PARAMETERS,
  );
});

test('every capture has whole escapes and means the text that matched', () => {
  fc.assert(
    fc.property(target, fc.nat(), fc.nat(), (sent, first, second) => {
      const facts = read(sent);
      fc.pre(facts !== null);
      for (const spelling of spellings(facts)) {
        const { path } = spelling;
        const [from, to] = [boundary(path, first), boundary(path, second)].sort((a, b) => a - b);
        const text = path.slice(from, to);
        const part = sentPart(spelling, { from: from!, text });
        expect(part).toMatch(WHOLE_ESCAPES);
        expect(meaning(part)).toBe(plain(text));
      }
    }),
    PARAMETERS,
  );
});

test('captures side by side are the octets of both', () => {
  fc.assert(
    fc.property(target, fc.nat(), (sent, at) => {
      const facts = read(sent);
      fc.pre(facts !== null);
      for (const spelling of spellings(facts)) {
        const { path } = spelling;
        const cut = path.indexOf('/', at % path.length);
        fc.pre(cut > 0);
        const [before, after] = [path.slice(0, cut), path.slice(cut)];
        const joined =
          sentPart(spelling, { from: 0, text: before }) + sentPart(spelling, { from: cut, text: after });
        expect(joined).toBe(sentPart(spelling, { from: 0, text: path }));
      }
    }),
    PARAMETERS,
  );
});

/** An offset that is not within a character: regexes match whole ones. */
function boundary(path: string, given: number): number {
  const at = given % (path.length + 1);
  return path.codePointAt(at - 1)! > 0xffff ? at - 1 : at;
}

/** What a part of a forwarded path means: decoded, what separates segments as one slash. */
function meaning(part: string): string {
  return plain(decodeEscapes(part.replace(/%5C|%2F|\\/gi, '/')));
}

/** Without parameters and doubled slashes. */
function plain(path: string): string {
  return path.replace(/;[^/]*/g, '').replace(/\/+/g, '/');
}
