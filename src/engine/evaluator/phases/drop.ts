/** Phase 1: the first drop rule that matches blocks the request. Its own filters are countries and addresses. */
import { formatIp } from '../../../base/addresses/ip.ts';
import { DROP_STATUSES } from '../../../base/vocabulary/vocabulary.ts';
import { FLAG, FLAG_ACTION_SHIFT, NONE, SLOT, typeIndex } from '../../plan/layout.ts';
import { addressEntry, addressTexts, listedTexts } from '../addresses.ts';
import {
  countryCode,
  type JudgedCheck,
  judged,
  listText,
  type RuleExplanation,
  unfiltered,
} from '../checks.ts';
import { ipOf } from '../facts.ts';
import { isCountryListed } from '../predicates.ts';
import { acts, type Context, end, endPhase, nextMatch, type Run, record, refOf, slotWord } from '../run.ts';

const DROP = typeIndex('drop');

/** Runs the phase; true when it ended the request. */
export function drop(context: Context, run: Run): boolean {
  for (let slot = nextMatch(context, DROP); slot >= 0; slot = nextMatch(context, DROP)) {
    record(context, run, slot, 'block');
    if (!acts(context, run, slot)) continue;
    endPhase(context, DROP);
    return end(run, 'block', { status: statusOf(context, slot), rule: refOf(context, slot) });
  }
  return false;
}

/** What the rule answers. */
function statusOf(context: Context, slot: number): number {
  return DROP_STATUSES[slotWord(context, slot, SLOT.flags) >>> FLAG_ACTION_SHIFT]!;
}

/** What a trace says of drop rules. */
export const dropExplanation: RuleExplanation = {
  checks: (context, slot) => [countryCheck(context, slot), addressCheck(context, slot)],
  status(context, slot) {
    const status = statusOf(context, slot);
    return status === DROP_STATUSES[0] ? null : status;
  },
};

/** The check of the country filter; unknown countries fail it in either mode. */
function countryCheck(context: Context, slot: number): JudgedCheck {
  const { facts, loaded } = context;
  const { words } = loaded.plan;
  const offset = slotWord(context, slot, SLOT.countries);
  if (offset === NONE) return unfiltered('country', 'no country filter', 'country_not_listed');
  const texts = listedTexts(loaded, offset, (at) =>
    [...words.subarray(at + 1, at + 1 + words[at]!)].map(countryCode),
  );
  const listed = listText(texts);
  const excludes = (slotWord(context, slot, SLOT.flags) & FLAG.excludeCountries) !== 0;
  if (facts.country < 0) {
    if (excludes)
      return judged('country', true, `the country is unknown, so not among ${listed}`, 'country_unknown');
    return judged(
      'country',
      null,
      'the country is unknown, so it is never listed',
      'country_unknown',
      'countries[0]',
    );
  }
  const code = countryCode(facts.country);
  const isListed = isCountryListed(loaded, offset, facts.country);
  // Not among the codes: of a list, the first of those that are named.
  const written = texts.indexOf(code);
  const place = written < 0 && isListed ? texts.findIndex((text) => text.startsWith('@')) : written;
  const entry = place < 0 && excludes ? undefined : `countries[${Math.max(0, place)}]`;
  const text = `country ${code} is ${isListed ? 'in' : 'not in'} countries ${listed}`;
  return judged(
    'country',
    isListed !== excludes,
    text,
    excludes ? 'country_listed' : 'country_not_listed',
    entry,
  );
}

/** The check of the address filter; unknown addresses fail it in either mode. */
function addressCheck(context: Context, slot: number): JudgedCheck {
  const { facts, loaded } = context;
  const offset = slotWord(context, slot, SLOT.addresses);
  if (offset === NONE) return unfiltered('ip', 'no ip filter', 'ip_not_listed');
  const listed = addressTexts(loaded, offset);
  const excludes = (slotWord(context, slot, SLOT.flags) & FLAG.excludeAddresses) !== 0;
  const family = ipOf(facts);
  if (family === 0) {
    if (excludes)
      return judged(
        'ip',
        true,
        `the address is unknown, so outside the allowlist ${listText(listed)}`,
        'ip_unknown',
      );
    return judged('ip', null, 'the address is unknown, so it is never listed', 'ip_unknown', 'ips[0]');
  }
  const address = formatIp(family as 4 | 6, facts.ipWords);
  const entry = addressEntry(loaded, offset, facts);
  const name = entry < 0 ? undefined : `ips[${entry}]`;
  if (excludes) {
    const inside = `${address} is in the allowlist entry ${listed[entry]}`;
    const outside = `${address} is outside the allowlist ${listText(listed)}`;
    return judged('ip', entry < 0, entry < 0 ? outside : inside, 'ip_listed', name);
  }
  const text =
    entry < 0 ? `${address} is not in ips ${listText(listed)}` : `${address} is in ${listed[entry]}`;
  return judged('ip', entry >= 0, text, 'ip_not_listed', name ?? 'ips[0]');
}
