/** Where an origin is, as rules that name origins have it: the fields that `origin_route` and `origin_pool` share. */
import { ORIGIN_SCHEMES } from '../../base/vocabulary/vocabulary.ts';
import { anyCase, checked, filledText, originCountry, port } from './fields.ts';
import { judgeAddress } from './location.ts';

export const ADDRESS_FIELDS = {
  address: checked(filledText(), judgeAddress)
    .describe('IP address or host name of the origin')
    .meta({ examples: ['198.51.100.30'] }),
  port: port()
    .nullable()
    .default(null)
    .describe('port of the origin; null: 443 for `https`, 80 for `http`')
    .meta({ examples: [8080] }),
  scheme: anyCase(ORIGIN_SCHEMES)
    .default('https')
    .describe('protocol of connections to the origin')
    .meta({ examples: ['http'] }),
};

export const ORIGIN_COUNTRY = originCountry()
  .describe('country of the origin (ISO 3166-1 alpha-2); a note without effect')
  .meta({ examples: ['DE'] });
