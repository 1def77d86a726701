/**
 * The part of sealed counts that only domains with requests to gateways have, after all others, so that counts of other domains
 * have the octets that earlier releases read.
 */
import { MAX_REGISTRY_NAME } from '../../base/vocabulary/limits.ts';
import { MAX_VALUE_LENGTH } from './counts.ts';
import {
  type GatewayCounts,
  type GatewaySums,
  MAX_GATEWAY_USES,
  MAX_KEY_USES,
  MAX_USE_CONSUMERS,
  useKey,
} from './gateway-counts.ts';
import {
  layoutFault,
  type Reader,
  readCount,
  readInteger,
  readName,
  setOnce,
  type Writer,
  writeInteger,
  writeName,
} from './octets.ts';

/** Maximum length, in UTF-16 units, of a username: surrogate pairs are counted as one character. */
const MAX_USERNAME_LENGTH = 2 * MAX_REGISTRY_NAME;
const MAX_STATUS = 599;
/** Hex digits of the id of a key. */
const KEY_DIGITS = 8;
const MAX_KEY_NUMBER = 16 ** KEY_DIGITS - 1;

/** Writes the counts of gateways. */
export function writeGateways(writer: Writer, names: Map<string, number>, counts: GatewayCounts): void {
  writeInteger(writer, counts.uses.size);
  for (const use of counts.uses.values()) {
    writeInteger(writer, use.gateway);
    writeName(writer, names, use.consumer);
    writeName(writer, names, use.operation);
    writeInteger(writer, use.status);
    writeSums(writer, use);
  }
  writeInteger(writer, counts.consumers.size);
  for (const [consumer, sums] of counts.consumers) {
    writeName(writer, names, consumer);
    writeSums(writer, sums);
  }
  writeKeys(writer, counts.keys);
  writeSums(writer, counts.uncounted);
  writeSums(writer, counts.unnamed);
}

function writeSums(writer: Writer, { requests, admitted }: GatewaySums): void {
  writeInteger(writer, requests);
  writeInteger(writer, admitted);
}

function writeKeys(writer: Writer, keys: ReadonlyMap<string, number>): void {
  writeInteger(writer, keys.size);
  if (keys.size === 0) return;
  const first = [...keys.values()].reduce((least, at) => Math.min(least, at));
  writeInteger(writer, first);
  for (const [key, at] of keys) {
    writeInteger(writer, Number.parseInt(key, 16));
    writeInteger(writer, at - first);
  }
}

/** Reads the counts of gateways into empty ones. @throws CountsFault */
export function readGateways(reader: Reader, names: string[], counts: GatewayCounts): void {
  for (let rest = readCount(reader, MAX_GATEWAY_USES); rest > 0; rest--) {
    const use = {
      gateway: readInteger(reader),
      consumer: readName(reader, names, MAX_USERNAME_LENGTH),
      operation: readName(reader, names, MAX_VALUE_LENGTH),
      status: readInteger(reader, MAX_STATUS),
      ...readSums(reader),
    };
    setOnce(counts.uses, useKey(use), use);
  }
  for (let rest = readCount(reader, MAX_USE_CONSUMERS); rest > 0; rest--) {
    setOnce(counts.consumers, readName(reader, names, MAX_USERNAME_LENGTH), readSums(reader));
  }
  if (counts.consumers.size === 0) throw layoutFault('a part of gateways without requests');
  readKeys(reader, counts.keys);
  Object.assign(counts.uncounted, readSums(reader));
  Object.assign(counts.unnamed, readSums(reader));
}

function readSums(reader: Reader): GatewaySums {
  const requests = readInteger(reader);
  const admitted = readInteger(reader);
  if (admitted > requests) throw layoutFault(`${admitted} admitted requests of ${requests}`);
  return { requests, admitted };
}

function readKeys(reader: Reader, keys: Map<string, number>): void {
  const count = readCount(reader, MAX_KEY_USES);
  if (count === 0) return;
  const first = readInteger(reader);
  for (let rest = count; rest > 0; rest--) {
    const key = readInteger(reader, MAX_KEY_NUMBER).toString(16).padStart(KEY_DIGITS, '0');
    setOnce(keys, key, first + readInteger(reader, Number.MAX_SAFE_INTEGER - first));
  }
}
