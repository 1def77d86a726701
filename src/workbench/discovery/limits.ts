/** Bounds and thresholds of the discovery of operations from traffic. */

/** Paths, their beginnings included, that are in memory, at most: some 30 MB. Requests of further ones are counted as left out. */
export const MAX_NODES = 50_000;
/** The share of `MAX_NODES`, at most, after values were merged, at which they are merged again when the memory is full. */
export const MAX_SETTLED_SHARE = 0.75;
/** Words after one beginning, at most; with more of them they are values of one parameter, whatever they look like. */
export const MAX_WORDS = 1_000;
/** Statuses of one operation, at most: those that the code counts as a success. */
export const MAX_STATUSES = 100;
/** Characters of a discovered template, at most: as of a path in a document (`rules/openapi/limits.ts`). */
export const MAX_TEMPLATE = 1_024;

/**
 * Words after one beginning that are values of a parameter, at least: if paths of one method end
 * with each of them, or if the same word follows each of them.
 */
export const MIN_ENDINGS = 25;
export const MIN_CONTINUED = 8;
/**
 * The share of words with few requests among them, at least. A parameter of many values shows new ones all the time, and operations do
 * not: the share of values seen once estimates the share of requests with values not yet seen (I. J. Good 1953, "The population
 * frequencies of species and the estimation of population parameters").
 */
export const MIN_RARE_SHARE = 0.2;
/** Requests of a word that is rare, at most. */
export const RARE_REQUESTS = 2;
/** Words from which on the share does not matter: in a month of traffic every value may be frequent. */
export const MANY_ENDINGS = 200;
export const MANY_CONTINUED = 50;
/** A word with at most so many times the requests of an average value is a value, too, where there are values. */
export const USUAL_FACTOR = 2;
/** Different single digits after one beginning that are values, at least: an API has one or two versions. */
export const MIN_DIGITS = 3;

/** Characters of a parameter's name, at most. */
export const MAX_PARAMETER_NAME = 64;
