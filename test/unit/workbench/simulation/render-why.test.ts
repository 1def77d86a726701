import { describe, expect, it } from 'vitest';
import { closestKey, findRules, remedyFor } from '../../../../src/workbench/simulation/render-why.ts';
import { shopDocument } from './sample.ts';

const rules = shopDocument().phases.flatMap((phase) => phase.rules);
const ids = (text: string) => findRules(rules, text).map((rule) => rule.id);

describe('findRules', () => {
  it('accepts an id, a type and id, and a key', () => {
    for (const text of ['41', '#41', 'drop/41', 'drop#41', 'drop #41', 'office-only', 'drop/office-only'])
      expect(ids(text)).toEqual([41]);
  });

  it('finds nothing under another type or an unknown name', () => {
    for (const text of ['captcha/41', 'captcha/office-only', '4', 'office', '', '#', 'drop/null'])
      expect(ids(text)).toEqual([]);
  });

  it('suggests a key for a misspelling, and none for another name', () => {
    expect(closestKey(rules, 'ofice-only')).toBe('office-only');
    expect(closestKey(rules, 'embrago')).toBe('embargo');
    expect(closestKey(rules, 'something-else')).toBe(null);
  });

  it('returns a remedy with the nearest key or ids', () => {
    expect(remedyFor(rules, 'drop/ofice-only')).toBe('did you mean drop/office-only?');
    expect(remedyFor(rules, 'captcha/41')).toBe('did you mean drop/41?');
    expect(remedyFor(rules, '58')).toBe('the nearest ids are 57, 64, 71; --all lists every rule');
    expect(remedyFor(rules, 'something-else')).toBe('--all lists every rule');
    expect(remedyFor(rules, ' ')).toMatch(/^write an id, a key or /);
  });
});
