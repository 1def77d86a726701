/** The hand-written part of the ordinary traffic: prose, code and values of `fixtures/traffic`. */
import { readFileSync } from 'node:fs';

export interface Snippet {
  readonly title: string;
  readonly language: string;
  readonly text: string;
  /** A lesson about the very things that signatures look for: it is counted, not held against them. */
  readonly hard?: boolean;
}

export type ValueKind =
  | 'people'
  | 'streets'
  | 'cities'
  | 'phones'
  | 'passwords'
  | 'searches'
  | 'pages'
  | 'urls'
  | 'html';

export interface Material {
  /** Texts by language. */
  readonly prose: Readonly<Record<string, readonly string[]>>;
  readonly code: readonly Snippet[];
  readonly values: Readonly<Record<ValueKind, readonly string[]>>;
}

/** Reads the material. */
export function readMaterial(): Material {
  const read = (name: string) =>
    JSON.parse(readFileSync(new URL(`../../../fixtures/traffic/${name}.json`, import.meta.url), 'utf8'));
  return { prose: read('prose'), code: read('code'), values: read('values') };
}
