/**
 * Query parameters that advertisers and mailing services add to links for their own statistics. Scripts of the page read them
 * in the browser; an origin's response does not depend on them. Source: the documentation of each service.
 */

/** Urchin and its successors: support.google.com/analytics/answer/10917952. */
const PREFIX = 'utm_';

const NAMES: ReadonlySet<string> = new Set([
  // Google Ads and Merchant Center: support.google.com/google-ads/answer/9744275, developers.google.com/gtagjs/devguide/linker
  'gclid',
  'gclsrc',
  'gbraid',
  'wbraid',
  'dclid',
  'srsltid',
  '_gl',
  '_ga',
  // Meta: developers.facebook.com/docs/marketing-api/conversions-api/parameters/fbp-and-fbc
  'fbclid',
  'igshid',
  // Microsoft: help.ads.microsoft.com, "auto-tagging of Click ID"
  'msclkid',
  // Yandex, TikTok, X, LinkedIn, Pinterest, Snapchat: their guides to conversion tracking
  'yclid',
  'ysclid',
  'ttclid',
  'twclid',
  'li_fat_id',
  'epik',
  'sccid',
  // Mailchimp and HubSpot: their guides to campaign tracking
  'mc_cid',
  'mc_eid',
  '_hsenc',
  '_hsmi',
]);

/** Whether a parameter is known to be for statistics alone. Case counts, as in the cache key. */
export function isTrackingParameter(name: string): boolean {
  return name.startsWith(PREFIX) || NAMES.has(name);
}
