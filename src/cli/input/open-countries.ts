/** Opens the country database of `--countries`, and finds the countries of addresses in it. */
import { readFile } from 'node:fs/promises';
import { formatIp, parseIp } from '../../base/addresses/ip.ts';
import { type Countries, openCountries } from '../../engine/classification/country.ts';
import { inputFault } from '../exit.ts';
import { reasonOf } from '../file-fault.ts';

/** Opens a country database. @throws CommandFault when the file cannot be read or has another format */
export async function openCountryFile(file: string): Promise<Countries> {
  try {
    return openCountries(await readFile(file));
  } catch (error) {
    throw inputFault(`--countries: \`${file}\` cannot be used: ${reasonOf(error)}`, { cause: error });
  }
}

/** The country of an address in any spelling; `null` if it is unknown, and for a host name. */
export function countryFinder(countries: Countries): (address: string) => string | null {
  const words = new Uint32Array(4);
  return (address) => {
    const family = parseIp(address, words);
    return family === 0 ? null : countries.country(formatIp(family, words));
  };
}
