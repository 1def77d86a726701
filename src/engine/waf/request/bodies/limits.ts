/** Limits of the body parsers. A body beyond a limit is inspected up to it, and the limit is reported as an error. */

/**
 * Maximum number of members per body, for each of arguments, files, part headers and attribute values. ModSecurity's
 * recommended limit is 1,000 arguments, but large spreadsheets and imports send some thousands.
 */
export const MAX_BODY_ARGUMENTS = 10_000;

/** Maximum nesting depth of JSON containers: the limit of ModSecurity's recommended configuration. */
export const MAX_JSON_DEPTH = 512;

/**
 * Maximum size, in octets, of all argument names of a JSON body together. A name repeats the keys around its value, so
 * that 512 levels of long keys would turn one megabyte into hundreds; ten thousand ordinary names take a quarter of
 * this.
 */
export const MAX_JSON_NAME_OCTETS = 2_097_152;

/** Maximum nesting depth of XML elements: the limit of libxml2. */
export const MAX_XML_DEPTH = 256;

/** Maximum size, in octets, of a header of a part, folded lines included: the buffer of ModSecurity. */
export const MAX_PART_HEADER_OCTETS = 4_096;

/** Maximum size, in octets, of the `Content-Type` of a multipart body: the limit of ModSecurity. */
export const MAX_CONTENT_TYPE_OCTETS = 1_024;
