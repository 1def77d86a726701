/** Locations with groups never lead to a host that the rule's author did not write, whatever visitors send (semantics §14). */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { MAX_LOCATION_CHARACTERS } from '../../src/base/vocabulary/limits.ts';
import { compile, seal } from '../../src/engine/compiler/index.ts';
import { loadPlan } from '../../src/engine/evaluator/index.ts';
import { createOracle } from '../oracle/index.ts';
import { request, rule, ruleSet } from '../support/sample-rules.ts';

const PARAMETERS = { numRuns: 4_000 };

const piece = fc.constantFrom(
  ...['/', '//', '\\', '/\\', '%2F', '%2f', '%5C', '%5c', '%09', '%0D%0A', '%00', '%20', '%2E', '%252F'],
  ...['.', '..', ';', ';v=1', ':', '@', '&', '+', '=', '%3F', '%23', '%40', '%E9', '%C3%BC', 'é', '😀'],
  ...['evil.example', 'https:', 'http://evil.example', 'javascript:alert(1)', 'old', 'a', '$1', '${1}'],
);
const sent = fc.array(piece, { maxLength: 12 }).map((pieces) => `/${pieces.join('')}`);

const PATTERNS = ['(.*)', '^/(.*)$', '^(/?)(.*)$', '^/old(.*)$', '^/([^/]*)/?(.*)$', '(.)(.*)'];
const TARGETS = ['/$1', '/$1$1', '/x$1', '/x/$1', '/$1?q=$1&r=1#$1', '/?$1', '/#$1', '/.$1', '/$1/..x'];
const ABSOLUTE = ['https://to.example/$1', 'https://to.example?q=$1', 'http://to.example:8080/a$1#$1'];

test.each([
  ['a path', 'https://example.com', TARGETS],
  ['an absolute URL', 'to.example', ABSOLUTE],
])('%s leads where its author wrote, in plain ASCII, as the oracle says', (_, own, targets) => {
  let seen = 0;
  fc.assert(
    fc.property(sent, fc.constantFrom(...PATTERNS), fc.constantFrom(...targets), (path, pattern, target) => {
      const fields = { path_match_type: 'regex', path_includes: [pattern], target } as const;
      const rules = [rule('redirect', 1, { ...fields, target_mode: 'captures' })];
      const evaluator = loadPlan(seal(compile(ruleSet({ rules })).plan));
      const asked = request({ target: path });
      const { action, location, status } = evaluator.evaluate(asked);
      const expected = createOracle(ruleSet({ rules })).evaluate(asked);
      expect([action, location, status]).toEqual([expected.action, expected.location, expected.status]);
      if (location === null) return;
      seen++;
      expect(location).toMatch(/^[!-~]+$/);
      const url = new URL(location, 'https://example.com/');
      expect(own.includes('://') ? url.origin : url.hostname).toBe(own);
      expect(url.username + url.password).toBe('');
      // What a browser resolves is what was sent: no dot segment is left.
      expect(location.replace(/[?#].*$/, '')).not.toMatch(/(?:^|\/)(?:\.|%2e){1,2}(?:[/;?#]|$)/i);
    }),
    PARAMETERS,
  );
  expect(seen).toBeGreaterThan(PARAMETERS.numRuns / 3);
});

test('a location that groups make too long is refused with 414, in work that the limit bounds', () => {
  const target = `/${'$1'.repeat(MAX_LOCATION_CHARACTERS / 2 - 1)}`;
  const fields = { path_match_type: 'regex', path_includes: ['(.*)'], target } as const;
  const rules = [rule('redirect', 1, { ...fields, target_mode: 'captures' })];
  const evaluator = loadPlan(seal(compile(ruleSet({ rules })).plan));
  const started = performance.now();
  for (let time = 0; time < 20; time++) {
    const decision = evaluator.evaluate(request({ target: `/${'a'.repeat(16_000)}` }));
    expect([decision.action, decision.status]).toEqual(['refuse', 414]);
  }
  // 8,191 copies of 16,000 characters would be 131 MB each time.
  expect(performance.now() - started).toBeLessThan(5_000);
});
