/** What a term of conditions accepts, as a set on the one axis that it reads. In: the axes of a space. Out: the set. */
import type { LoadedPlan } from '../../../engine/evaluator/loaded.ts';
import type { AddressAxis, botAxis, countryAxis, fingerprintAxis } from './axes.ts';
import { type AtomSet, AXES, type Axis, atomSet, intersect, NO_ATOMS, subtract, unite } from './boxes.ts';
import { patternsOfTerm } from './language.ts';
import { type PlanTerm, textsOfTerm } from './terms.ts';
import type { TermSet, ValueAxes } from './value-axes.ts';

/** The axes that terms are about. */
interface TermAxes {
  readonly ip: AddressAxis;
  readonly country: ReturnType<typeof countryAxis>;
  readonly bot: ReturnType<typeof botAxis>;
  readonly ja4: ReturnType<typeof fingerprintAxis>;
  readonly values: ValueAxes;
}

/** The set of a term of a plan; `null`: it is not known. */
export function setOfTerm(
  axes: TermAxes,
  { plan, loaded }: { readonly plan: number; readonly loaded: LoadedPlan },
  term: PlanTerm,
): TermSet | null {
  const of = (axis: Axis, set: AtomSet): TermSet => ({ member: term.member, axis: AXES.indexOf(axis), set });
  const either = (all: AtomSet, set: AtomSet): AtomSet =>
    term.negated ? subtract(all, set) : intersect(all, set);
  switch (term.kind) {
    case 'ip': {
      const set = axes.ip.setOfTerm(loaded, term);
      return set === null ? null : of('ip', set);
    }
    case 'country': {
      const codes = patternsOfTerm(loaded, term).flatMap(({ alternatives }) => alternatives ?? []);
      const listed = atomSet(codes.map(([code = '']) => axes.country.numberOf(code)));
      return of('country', either(axes.country.all, listed));
    }
    case 'bot': {
      const kinds = term.comparison === 'any' ? ['*'] : textsOfTerm(loaded, term);
      const listed = kinds.map(axes.bot.kindSet).reduce(unite, NO_ATOMS);
      return of('bot', either(axes.bot.all, listed));
    }
    case 'verified':
      return of('bot', either(axes.bot.all, axes.bot.verified));
    case 'ja4':
      return of('ja4', either(axes.ja4.all, axes.ja4.setOfEntries(textsOfTerm(loaded, term))));
    default:
      return axes.values.setOf(plan, term);
  }
}
