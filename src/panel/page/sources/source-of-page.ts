/** Chooses the source by the server that served the page. */
import type { PageSource } from '../source.ts';
import { playSource } from './play.ts';

/** The source of this page. */
export function sourceOfPage(): PageSource {
  return playSource();
}
