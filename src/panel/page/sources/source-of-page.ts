/** Chooses the source by the server that served the page. */
import type { PlanSource } from '../source.ts';
import { playSource } from './play.ts';

/** The source of this page. */
export function sourceOfPage(): PlanSource {
  return playSource();
}
