/** What every part of the ordinary traffic is drawn from and handed on as. */
import type { Random } from '../generate-random.ts';
import { type Body, json } from './bodies.ts';
import { apiClient, BROWSERS, type Headers } from './clients.ts';
import { cookieHeader } from './cookies.ts';
import type { Material } from './material.ts';

export interface Draft {
  readonly method?: string;
  readonly target: string;
  readonly headers: Headers;
  readonly body?: Body;
  readonly hard?: boolean;
}

export interface Scene {
  readonly random: Random;
  readonly material: Material;
}

export type Kind = (scene: Scene) => readonly Draft[];

export function browser(random: Random): Headers {
  const headers = random.pick(BROWSERS);
  return random.chance(0.6) ? { ...headers, cookie: cookieHeader(random) } : headers;
}

export function posts(
  { random, material }: Scene,
  {
    count,
    target,
    make,
  }: { count: number; target: string; make: (random: Random, material: Material) => unknown },
): readonly Draft[] {
  return random.times(count, () => ({
    target,
    headers: random.chance(0.5) ? apiClient(random) : browser(random),
    body: json(make(random, material), random.pick(['application/json', 'application/json; charset=utf-8'])),
  }));
}
