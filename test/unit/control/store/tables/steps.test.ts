/**
 * A step of the tables that has landed is never changed: stores of earlier releases have taken it. A change of a description
 * that reaches into an earlier step changes a digest below; a new step adds a line to each list.
 */
import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { migrationsOf } from '../../../../../src/control/store/tables/steps.ts';

/** The first 16 hexadecimal digits of the SHA-256 of each step's DDL. */
const LANDED = {
  sqlite: [
    '308207314d62a114',
    '3a185678981e3f01',
    '23d45d13684f8b76',
    '90d1cc3928cd2b70',
    'e3b0c44298fc1c14',
    '8646bc729d10c706',
    '43e94d92c7019502',
    '01caf10ef6a89ba0',
    '649fa81155098846',
    'd1dc9f60ec1125e4',
    '3a64f3c43b07477a',
    '25ad7a955da532d7',
    'e3b0c44298fc1c14',
    'c311793bc59bb270',
    '1dfcb240cd151019',
    '92d311981e10d2a9',
    'a53478880353cd78',
    '3351bf783aac3b7d',
    '5c6d0e698a3bf8b1',
    'd4f49aad09e9c856',
    'ac2d533de5dc81df',
    '743089869fd1682c',
    'a08d69bb0345bffc',
    '84d2fb299f6b87af',
    'eabdbb2d409d4f9d',
    '91cc5d59c15bc84b',
    '67de37df509c10f7',
    '092e049e0465fd19',
    '31f9ea5775bb84e4',
  ],
  postgres: [
    '2608231084785635',
    'a1031cac428ef78f',
    '323643ef9cbd73ce',
    '98ea3b2d88e8e3e3',
    '2866df2a62e50273',
    '863566e782c8f08b',
    '4164f663679db5e6',
    '4403bc452b32015c',
    '9c9e6aa47e32bb88',
    'c6f98230a94e7380',
    '376eb6129f7507e9',
    '3295e198949b48e6',
    'fd50e47ada45c9d3',
    '6f1c9332f96e9005',
    '73be1cdad5413245',
    '2ec7fb67393e4c29',
    '69b1d6f0ba8b4271',
    '0367a4e0585abe93',
    'af4a8a990622c09c',
    'aae404b1f48bdc1b',
    '05b50e691d60d840',
    'd03953b732feb888',
    '1b2b13720af02bd7',
    '7012f17934f572e4',
    '7e6d64104806f686',
    '90311bf6f0f6f1fd',
    '0dd336412b4267df',
    '19a04493f10e6908',
    '22dd5d05d9a798b9',
  ],
} as const;

test.each(['sqlite', 'postgres'] as const)('the steps of %s are those that have landed', (dialect) => {
  const digests = migrationsOf(dialect).map(({ ddl }) =>
    createHash('sha256').update(ddl).digest('hex').slice(0, 16),
  );
  expect(digests).toEqual(LANDED[dialect]);
});
