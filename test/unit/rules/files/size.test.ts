import { expect, it } from 'vitest';
import { sizeText } from '../../../../src/rules/files/size.ts';

it('formats a size below 1 KiB in octets, and a larger one in KiB or MiB with the octets', () => {
  expect(sizeText(1)).toBe('1 octet');
  expect(sizeText(648)).toBe('648 octets');
  expect(sizeText(1024)).toBe('1 KiB (1024 octets)');
  expect(sizeText(3600)).toBe('3.5 KiB (3600 octets)');
  expect(sizeText(4_194_304)).toBe('4 MiB (4194304 octets)');
});
